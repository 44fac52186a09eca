#include "facebench/datasets/check.h"

#include <gtest/gtest.h>

#include "datasets/jpeg.h"
#include "facebench/core/error.h"
#include "facebench/datasets/dataset.h"
#include "facebench/io/file.h"
#include "io/helpers.h"

namespace facebench {
namespace {

TEST(Check, FindsEverySortOfTrouble) {
  TemporaryFolder folder;
  write_file(folder / "a/1.jpg", jpeg(1));
  write_file(folder / "a/2.jpg", jpeg(1));
  write_file(folder / "a/3.jpg", "");
  write_file(folder / "b/1.jpg", "text");
  write_file(folder / "b/2.jpg", jpeg(200).substr(0, 300));
  write_file(folder / "c/1.jpg", jpeg(9));
  CheckOptions options;
  options.min_images = 2;
  const DatasetReport r = check_dataset(read_image_folder(folder.path()),
                                        std::vector<std::string>{"a/1.jpg", "a/4.jpg"}, options);
  EXPECT_EQ(r.images, 6);
  EXPECT_EQ(r.people, 3);
  EXPECT_EQ(r.count("duplicate"), 1);
  EXPECT_EQ(r.count("empty"), 1);
  EXPECT_EQ(r.count("unreadable"), 2);
  EXPECT_EQ(r.count("missing"), 1);
  EXPECT_EQ(r.count("too_few_images"), 1);
  ASSERT_EQ(r.findings.size(), 6u);
  EXPECT_EQ(r.findings[0].id, "a/2.jpg");
}

}  // namespace
}  // namespace facebench
