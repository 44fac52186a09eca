#include "facebench/datasets/dataset.h"

#include <gtest/gtest.h>

#include "datasets/jpeg.h"
#include "facebench/core/error.h"
#include "facebench/io/file.h"
#include "io/helpers.h"

namespace facebench {
namespace {

std::vector<std::string> ids(const Dataset& dataset) {
  std::vector<std::string> result;
  for (const Sample& s : dataset.samples) result.push_back(s.id);
  return result;
}

TEST(ImageFolder, TakesImagesByExtensionOrFirstBytesInNaturalOrder) {
  TemporaryFolder folder;
  for (const char* name : {"s10/1.jpg", "s2/10.JPG", "s2/2.jpg", "s2/deep/3.jpeg"})
    write_file(folder / name, jpeg(1));
  write_file(folder / "s2/plain", jpeg(1));
  write_file(folder / "s2/notes.txt", "hello");
  write_file(folder / "s2/text.jpg", "not an image");
  write_file(folder / "readme", "x");
  write_file(folder / "empty/notes.txt", "no image here");
  const Dataset d = read_image_folder(folder.path());
  EXPECT_EQ(ids(d), (std::vector<std::string>{"s2/2.jpg", "s2/10.JPG", "s2/deep/3.jpeg", "s2/plain",
                                              "s2/text.jpg", "s10/1.jpg"}));
  EXPECT_EQ(d.label_names, (std::vector<std::string>{"s2", "s10"}));
  EXPECT_EQ(d.samples.back().label, 1);
}

TEST(ImageFolder, SaysWhatIsWrong) {
  TemporaryFolder folder;
  EXPECT_NE(error_of([&] { read_image_folder(folder / "absent"); }).find("absent"),
            std::string::npos);
  EXPECT_NE(error_of([&] { read_image_folder(folder.path()); }).find("no folder with images"),
            std::string::npos);
  EXPECT_THROW(read_dataset("lwf", folder.path()), std::invalid_argument);
}

TEST(LfwFolder, FindsImagesAndInsistsOnItsNames) {
  TemporaryFolder folder;
  write_file(folder / "images/Al_Gore/Al_Gore_0002.jpg", jpeg(1));
  write_file(folder / "images/Al_Gore/Al_Gore_0001.jpg", jpeg(2));
  const Dataset d = read_dataset("lfw", folder.path());
  EXPECT_EQ(ids(d),
            (std::vector<std::string>{"Al_Gore/Al_Gore_0001.jpg", "Al_Gore/Al_Gore_0002.jpg"}));
  write_file(folder / "images/Al_Gore/Al_Gore_3.jpg", jpeg(3));
  EXPECT_NE(error_of([&] { read_lfw_folder(folder.path()); }).find("Al_Gore_3.jpg"),
            std::string::npos);
}

TEST(SelectSamples, KeepsTheAskedOrderAndWhatIsMissing) {
  TemporaryFolder folder;
  write_file(folder / "a/1.jpg", jpeg(1));
  write_file(folder / "a/2.png", jpeg(2));
  write_file(folder / "b/1.jpg", jpeg(3));
  const Dataset d = read_image_folder(folder.path());
  const Dataset s =
      select_samples(d, std::vector<std::string>{"b/1.jpg", "a/2.jpg", "c/1.jpg", "b/1.jpg"}, true);
  EXPECT_EQ(ids(s), (std::vector<std::string>{"b/1.jpg", "a/2.png", "c/1.jpg"}));
  EXPECT_EQ(s.label_names, (std::vector<std::string>{"a", "b", "c"}));
  EXPECT_EQ(s.samples[2].label, 2);
  EXPECT_FALSE(s.samples[2].image.exists());
  write_file(folder / "b/1.png", jpeg(4));
  EXPECT_NE(error_of([&] {
              select_samples(read_image_folder(folder.path()), std::vector<std::string>{"b/1"},
                             true);
            }).find("both"),
            std::string::npos);
}

}  // namespace
}  // namespace facebench
