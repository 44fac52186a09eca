#include "facebench/io/image_files.h"

#include <gtest/gtest.h>

#include <fstream>
#include <stdexcept>

#include "io/helpers.h"

namespace facebench {
namespace {

using Paths = std::vector<std::filesystem::path>;

TEST(ListImages, TakesATreeInNaturalOrderAndNamesTheOthers) {
  TemporaryFolder folder;
  const std::string pixels = "P5\n2 2\n255\n0123";
  for (const char* name : {"b/10.JPG", "b/2.jpg", "b/deep/er/1.png", "10.pgm", "2.ppm", "plain"})
    write_file(folder / name, pixels);
  write_file(folder / "notes.txt", "P is a letter");
  write_file(folder / "b/empty", "");
  write_file(folder / ".hidden.jpg", pixels);
  write_file(folder / ".git/x.jpg", pixels);
  const ImageFolder found = list_images(folder.path());
  EXPECT_EQ(found.images,
            (Paths{"2.ppm", "10.pgm", "b/2.jpg", "b/10.JPG", "b/deep/er/1.png", "plain"}));
  EXPECT_EQ(found.others, (Paths{"b/empty", "notes.txt"}));
}

TEST(ListImages, FollowsLinksButNotForEver) {
  TemporaryFolder folder;
  write_file(folder / "elsewhere/1.png", "x");
  std::filesystem::create_directory(folder / "tree");
  std::filesystem::create_directory_symlink(folder / "elsewhere", folder / "tree/link");
  std::filesystem::create_symlink(folder / "nowhere", folder / "tree/gone.png");
  // A file whose target is away is one that will be missing, not one that never was.
  EXPECT_EQ(list_images(folder / "tree").images, (Paths{"gone.png", "link/1.png"}));
  std::filesystem::create_directory_symlink(folder / "tree", folder / "tree/loop");
  EXPECT_ERROR(list_images(folder / "tree"), "deeper than 16");
  EXPECT_ERROR(list_images(folder / "absent"), "cannot list");
}

TEST(ListImages, CanBeStopped) {
  TemporaryFolder folder;
  write_file(folder / "1.png", "x");
  Job job;
  job.poll = [] { throw std::runtime_error("stop"); };
  EXPECT_THROW(list_images(folder.path(), job), std::runtime_error);
}

}  // namespace
}  // namespace facebench
