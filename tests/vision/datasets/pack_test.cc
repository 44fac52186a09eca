#include "facebench/datasets/pack.h"

#include <gtest/gtest.h>

#include "facebench/core/error.h"
#include "facebench/images/encode.h"
#include "facebench/io/file.h"
#include "facebench/io/sha256.h"
#include "io/helpers.h"

namespace facebench {
namespace {

// Finds one face: the left half of every image wider than it is high; landmarks only in images
// whose id begins with "a".
class HalfDetector : public Detector {
 public:
  Json description() const override { return {{"detector", "half"}}; }

 private:
  std::vector<Face> find(const Image& image, std::string_view id) const override {
    if (image.width <= image.height) return {};
    Face face;
    face.box = {0, 0, static_cast<float>(image.width) / 2, static_cast<float>(image.height)};
    face.has_landmarks = id.starts_with("a");
    face.landmarks = {{{5, 5}, {15, 5}, {10, 10}, {6, 15}, {14, 15}}};
    return {face};
  }
};

Image plain(int width, int height, std::uint8_t value) {
  Image image(width, height);
  std::fill(image.data.begin(), image.data.end(), value);
  return image;
}

// Two good faces, one without landmarks, one without face, and the bad files of every sort.
Dataset make_dataset(const TemporaryFolder& folder) {
  write_file(folder / "d/a/1.png", encode_png(plain(40, 20, 10)));
  write_file(folder / "d/a/2.png", encode_png(plain(60, 30, 20)));
  write_file(folder / "d/b/1.png", encode_png(plain(40, 20, 30)));
  write_file(folder / "d/b/2.png", encode_png(plain(20, 40, 40)));
  write_file(folder / "d/c/1.jpg", "just text");
  write_file(folder / "d/c/2.jpg", "");
  const std::string whole = encode_jpeg(plain(40, 20, 50));
  write_file(folder / "d/c/3.jpg", whole.substr(0, whole.size() / 2));
  const Dataset found = read_image_folder(folder / "d");
  std::vector<std::string> names;
  for (const Sample& s : found.samples) names.push_back(s.id);
  names.push_back("d/1.jpg");
  return select_samples(found, names);
}

CropOptions aligned() { return {}; }

Job threads(int n) {
  Job job;
  job.threads = n;
  return job;
}

TEST(PackWriter, FailuresAreRowsWithAStatusAndAReason) {
  TemporaryFolder folder;
  const Dataset d = make_dataset(folder);
  const HalfDetector detector;
  const PackSummary s =
      pack_dataset(d, &detector, "largest", aligned(), {}, folder / "p.h5", threads(2));
  EXPECT_EQ(s.images, 8);
  EXPECT_EQ(s.counts, (std::array<std::int64_t, 5>{2, 1, 3, 1, 1}));
  ASSERT_EQ(s.failures.size(), 6u);
  const Pack pack(folder / "p.h5");
  ASSERT_EQ(pack.size(), 8);
  EXPECT_EQ(pack.shape(), (ImageShape{112, 112}));
  EXPECT_EQ(pack.status(0), SampleStatus::ok);
  EXPECT_EQ(pack.status(2), SampleStatus::rejected);
  EXPECT_EQ(pack.status(3), SampleStatus::no_face);
  EXPECT_EQ(pack.status(4), SampleStatus::unreadable);
  EXPECT_EQ(pack.status(7), SampleStatus::missing);
  EXPECT_EQ(pack.name(7), "d/1.jpg");
  EXPECT_EQ(pack.label(7), 3);
  EXPECT_EQ(pack.label_names()[3], "d");
  EXPECT_EQ(pack.box(0), (Box{0, 0, 20, 20}));
  EXPECT_EQ(pack.box(4), (Box{0, 0, 0, 0}));
  EXPECT_EQ(pack.landmarks(0)[1], (Point{15, 5}));
  for (const std::uint8_t v : pack.image(4)) ASSERT_EQ(v, 0);
  // The middle of the aligned crop shows the grey of the first image.
  EXPECT_EQ(pack.image(0)[(60 * 112 + 56) * 3], 10);
  EXPECT_EQ(pack.manifest()["failures"].size(), 6u);
  EXPECT_EQ(pack.manifest()["detector"]["detector"], "half");
  EXPECT_EQ(pack.manifest()["selection"], "largest");
  EXPECT_EQ(pack.manifest()["counts"]["unreadable"], 3);
  for (const Json& failure : pack.manifest()["failures"])
    EXPECT_EQ(failure["reason"].get<std::string>().find(folder.path().string()), std::string::npos)
        << "the pack would depend on where the images lie";
}

TEST(PackWriter, SameBytesForAnyNumberOfThreadsAndAnyPlace) {
  TemporaryFolder here, there;
  const HalfDetector detector;
  pack_dataset(make_dataset(here), &detector, "largest", aligned(), {}, here / "1.h5", threads(1));
  pack_dataset(make_dataset(here), &detector, "largest", aligned(), {}, here / "3.h5", threads(3));
  pack_dataset(make_dataset(there), &detector, "largest", aligned(), {}, there / "1.h5");
  EXPECT_EQ(sha256_file(here / "1.h5"), sha256_file(here / "3.h5"));
  EXPECT_EQ(sha256_file(here / "1.h5"), sha256_file(there / "1.h5"));
}

TEST(PackWriter, TreeHashIsThatOfTheFilesInOrder) {
  TemporaryFolder folder;
  write_file(folder / "d/a/1.png", encode_png(plain(10, 10, 1)));
  write_file(folder / "d/a/2.png", encode_png(plain(10, 10, 2)));
  const Dataset d = select_samples(read_image_folder(folder / "d"),
                                   std::vector<std::string>{"a/1.png", "a/2.png", "a/3.png"});
  const PackSummary s = pack_dataset(d, nullptr, "", aligned(), {}, folder / "p.h5");
  EXPECT_EQ(s.tree_sha256, sha256_hex(sha256_file(folder / "d/a/1.png") + "  a/1.png\n" +
                                      sha256_file(folder / "d/a/2.png") + "  a/2.png\n" +
                                      std::string(64, '0') + "  a/3.png\n"));
}

TEST(PackWriter, WithoutDetectorTheWholeImageIsResized) {
  TemporaryFolder folder;
  write_file(folder / "d/s1/1.pgm",
             encode_pnm(convert_color(plain(92, 112, 77), ColorOrder::gray)));
  CropOptions crop;
  crop.width = 46;
  crop.height = 56;
  const PackSummary s =
      pack_dataset(read_image_folder(folder / "d"), nullptr, "", crop, {}, folder / "p.h5");
  EXPECT_EQ(s.shape, (ImageShape{56, 46}));
  const Pack pack(folder / "p.h5");
  for (const std::uint8_t v : pack.image(0)) ASSERT_EQ(v, 77);
  EXPECT_EQ(pack.box(0), (Box{0, 0, 92, 112}));
  EXPECT_EQ(pack.manifest()["detector"]["detector"], "none");
}

TEST(PackWriter, LeavesNothingWhenStoppedOrRefused) {
  TemporaryFolder folder;
  const Dataset d = make_dataset(folder);
  const HalfDetector detector;
  const std::size_t before = folder.entries();
  Job job = threads(2);
  job.poll = [] { throw Cancelled(); };
  EXPECT_THROW(pack_dataset(d, &detector, "largest", aligned(), {}, folder / "p.h5", job),
               Cancelled);
  EXPECT_THROW(pack_dataset(d, &detector, "bigest", aligned(), {}, folder / "p.h5"),
               std::invalid_argument);
  EXPECT_THROW(pack_dataset(Dataset{}, &detector, "largest", aligned(), {}, folder / "p.h5"),
               Error);
  EXPECT_EQ(folder.entries(), before);
}

TEST(PackReader, RefusesEveryTruncation) {
  TemporaryFolder folder;
  write_file(folder / "d/a/1.png", encode_png(plain(10, 10, 1)));
  CropOptions crop;
  crop.width = crop.height = 8;
  pack_dataset(read_image_folder(folder / "d"), nullptr, "", crop, {}, folder / "p.h5");
  const std::string whole = read_file(folder / "p.h5");
  // Every length would take long, so every length near the ends and a step that meets all parts.
  for (std::size_t length = 0; length < whole.size();
       length += length < 64 || length + 64 > whole.size() ? 1 : 131) {
    write_file(folder / "cut.h5", whole.substr(0, length));
    EXPECT_THROW(Pack(folder / "cut.h5"), Error) << length;
  }
  write_file(folder / "text.h5", "no pack at all");
  EXPECT_THROW(Pack(folder / "text.h5"), Error);
  EXPECT_THROW(Pack(folder / "absent.h5"), Error);
}

TEST(PackReader, IndexIsChecked) {
  TemporaryFolder folder;
  write_file(folder / "d/a/1.png", encode_png(plain(10, 10, 1)));
  pack_dataset(read_image_folder(folder / "d"), nullptr, "", aligned(), {}, folder / "p.h5");
  const Pack pack(folder / "p.h5");
  EXPECT_THROW(pack.image(1), std::out_of_range);
  EXPECT_THROW(pack.label(-1), std::out_of_range);
}

}  // namespace
}  // namespace facebench
