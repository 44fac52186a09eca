#include "facebench/detection/detector.h"

#include <gtest/gtest.h>

#include "detection/textures.h"
#include "facebench/core/error.h"

namespace facebench {
namespace {

TEST(Detectors, TableIsDocumentedAndDescribed) {
  for (const DetectorEntry& e : detectors().entries()) {
    EXPECT_FALSE(e.doc.empty());
    ASSERT_NE(e.schema, nullptr);
    for (const OptionField& f : e.schema->fields) EXPECT_FALSE(f.doc.empty()) << f.name;
    EXPECT_THROW(e.make({{"no_such_option", 1}}), std::invalid_argument) << e.name;
  }
  EXPECT_THROW(make_detector("mtcnn", {{"mode", "facenett"}}), std::invalid_argument);
  EXPECT_THROW(make_detector("hgo"), std::invalid_argument);
}

TEST(Detectors, EmptyImagesAreRefused) {
  EXPECT_THROW(make_detector("hog")->detect(Image{}), std::invalid_argument);
}

}  // namespace
}  // namespace facebench
