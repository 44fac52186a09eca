#include "facebench/detection/detect_files.h"

#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>
#include <thread>

#include "facebench/core/error.h"
#include "facebench/detection/given.h"
#include "facebench/images/decode.h"
#include "facebench/images/encode.h"
#include "facebench/io/json.h"
#include "io/helpers.h"

namespace facebench {
namespace {

namespace fs = std::filesystem;

// Finds one face as large as the image, unless that is one pixel; the larger, the longer it takes.
class Frame final : public Detector {
 public:
  Json description() const override { return {}; }

 private:
  std::vector<Face> find(const Image& image, std::string_view) const override {
    for (int i = 0; i < 1000 * image.width; ++i) std::this_thread::yield();
    if (image.width == 1) return {};
    Face face;
    face.box = {0, 0, static_cast<float>(image.width), 0.1f};
    face.score = 0.3f;
    return {face};
  }
};

std::vector<std::string> names(const ImageFiles& files) {
  std::vector<std::string> result;
  for (const ImageFile& f : files.files) result.push_back(f.name);
  return result;
}

ImageFiles list(const std::vector<fs::path>& paths, const fs::path& draw = {}) {
  return list_image_files(paths, draw);
}

// A tree of images of 1, 2, ... pixels, a file of words called an image, and one that is none.
struct Tree {
  TemporaryFolder folder;
  Tree() {
    int width = 1;
    for (const char* name : {"in/a/1.png", "in/a/2.png", "in/a/10.png", "in/b.ppm"})
      write_image(folder / name, Image(width++, 3));
    write_file(folder / "in/words.jpg", "no image");
    write_file(folder / "in/notes.txt", "no image");
  }
};

TEST(ListImageFiles, NamesAreThoseOfOneFolderOrThePathsAsGiven) {
  const Tree t;
  const fs::path in = t.folder / "in";
  const std::vector<std::string> expected{"a/1.png", "a/2.png", "a/10.png", "b.ppm", "words.jpg"};
  EXPECT_EQ(names(list({in})), expected);
  EXPECT_EQ(names(list({in / ""})), expected);  // with a slash at its end
  EXPECT_EQ(list({in}).skipped, std::vector<fs::path>{in / "notes.txt"});
  // A file is taken at its word, whatever it is called.
  EXPECT_EQ(names(list({in / "notes.txt", in / "a"})),
            (std::vector<std::string>{in / "notes.txt", in / "a/1.png", in / "a/2.png",
                                      in / "a/10.png"}));
  fs::create_directory(t.folder / "empty");
  EXPECT_ERROR(list({t.folder / "empty"}), "no image");
}

TEST(ListImageFiles, DrawingsRepeatTheTree) {
  const Tree t;
  const fs::path in = t.folder / "in", out = t.folder / "out";
  EXPECT_EQ(list({in}, out).files[2].drawing, out / "a/10.png");
  const ImageFiles two = list({in / "a", in / "b.ppm", in / "notes.txt"}, out);
  EXPECT_EQ(two.files[0].drawing, out / "a/1.png");
  EXPECT_EQ(two.files[3].drawing, out / "b.ppm");
  EXPECT_EQ(two.files[4].drawing, out / "notes.txt.png");
  // What was drawn into the tree is not an input.
  write_image(in / "drawn/a/1.png", Image(1, 1));
  EXPECT_EQ(names(list({in}, in / "drawn")).size(), 5u);
  EXPECT_EQ(names(list({in}, out)).size(), 6u);
}

TEST(ListImageFiles, NoDrawingReplacesAnImageOrAnotherDrawing) {
  const Tree t;
  const fs::path in = t.folder / "in";
  EXPECT_THROW(list({in}, in), std::invalid_argument);
  EXPECT_THROW(list({in / "b.ppm"}, in / "a/.."), std::invalid_argument);
  EXPECT_THROW(list({in / "a/1.png", in / "a/../a/1.png"}, t.folder / "out"),
               std::invalid_argument);
}

TEST(DetectFiles, FailuresAreRowsInTheOrderOfTheFiles) {
  const Tree t;
  ImageFiles files = list({t.folder / "in"}, t.folder / "out");
  files.files.push_back({"gone.jpg", t.folder / "gone.jpg", {}});
  const Frame frame;
  Job job;
  job.threads = 1;
  const std::vector<DetectedFile> one = detect_files(frame, files.files, job);
  std::vector<SampleStatus> statuses;
  for (const DetectedFile& f : one) statuses.push_back(f.status);
  using enum SampleStatus;
  EXPECT_EQ(statuses, (std::vector{no_face, ok, ok, ok, unreadable, missing}));
  EXPECT_EQ(one[2].faces.at(0).box.x1, 3);
  EXPECT_NE(one[4].reason.find("words.jpg"), std::string::npos);
  // Larger images come first here: later ones must wait for them.
  std::reverse(files.files.begin(), files.files.begin() + 4);
  job.threads = 3;
  std::vector<std::string> order;
  detect_files(
      frame, files.files, [&](DetectedFile&& f) { order.push_back(f.name); }, job);
  EXPECT_EQ(order, names(files));

  EXPECT_EQ(read_image(t.folder / "out/a/10.png").row(0)[0], 255) << "nothing was drawn";
  EXPECT_TRUE(fs::exists(t.folder / "out/a/1.png")) << "an image without a face is drawn as well";
  EXPECT_FALSE(fs::exists(t.folder / "out/words.jpg"));
}

TEST(DetectFiles, WhatTakesTheResultsMayStop) {
  const Tree t;
  const ImageFiles files = list({t.folder / "in"});
  std::atomic<int> taken{0};
  const auto take = [&](DetectedFile&&) {
    ++taken;
    throw std::runtime_error("full");
  };
  EXPECT_THROW(detect_files(Frame(), files.files, take), std::runtime_error);
  EXPECT_LE(taken, 2) << "results were taken after one was refused";
}

TEST(DetectToFile, CsvIsReadAgainByGiven) {
  const Tree t;
  const ImageFiles files = list({t.folder / "in"});
  const fs::path csv = t.folder / "faces.csv";
  const DetectionSummary s = detect_to_file(Frame(), files.files, csv, "csv");
  EXPECT_EQ(s.images, 5);
  EXPECT_EQ(s.faces, 3);
  EXPECT_EQ(s.counts, (std::array<std::int64_t, kSampleStatusCount>{3, 1, 1, 0, 0}));
  ASSERT_EQ(s.failures.size(), 2u);
  EXPECT_EQ(s.failures[1].name, "words.jpg");
  const std::string text = read_file(csv);
  EXPECT_EQ(text.substr(0, text.find(",left_eye")), "name,status,x0,y0,x1,y1,score");
  EXPECT_NE(text.find("\na/1.png,no_face,,,,,,"), std::string::npos) << text;
  EXPECT_NE(text.find("\na/2.png,ok,0,0,2,0.1,0.3,,"), std::string::npos) << text;

  const auto given = make_detector("given", {{"file", csv.string()}});
  const Image any(9, 9);
  EXPECT_EQ(given->detect(any, "a/10.png"), detect_files(Frame(), files.files)[2].faces);
  EXPECT_TRUE(given->detect(any, "a/1.png").empty());
  EXPECT_TRUE(given->detect(any, "words.jpg").empty());
}

TEST(DetectToFile, JsonHoldsTheSame) {
  const Tree t;
  const fs::path out = t.folder / "faces.json";
  detect_to_file(Frame(), list({t.folder / "in"}).files, out, "json");
  const Json rows = parse_json(read_file(out), "faces.json");
  ASSERT_EQ(rows.size(), 5u);
  EXPECT_EQ(rows[1], Json::parse(R"({"name": "a/2.png", "status": "ok", "faces":
      [{"box": [0.0, 0.0, 2.0, 0.1], "score": 0.3, "landmarks": null}]})"));
  EXPECT_EQ(rows[4]["status"], "unreadable");
  EXPECT_NE(rows[4]["reason"].get<std::string>().find("not an image"), std::string::npos);
  // No file at all is an empty list.
  detect_to_file(Frame(), {}, out, "json");
  EXPECT_EQ(parse_json(read_file(out), "faces.json"), Json::array());
}

TEST(DetectToFile, IsThereWholeOrNotAtAll) {
  const Tree t;
  const std::size_t before = t.folder.entries();
  Job job;
  job.poll = [] { throw Cancelled(); };
  const auto files = list({t.folder / "in"}).files;
  EXPECT_THROW(detect_to_file(Frame(), files, t.folder / "faces.csv", "csv", job), Cancelled);
  EXPECT_EQ(t.folder.entries(), before);
  EXPECT_THROW(detect_to_file(Frame(), files, t.folder / "faces.xml", "xml"),
               std::invalid_argument);
  EXPECT_EQ(t.folder.entries(), before);
}

}  // namespace
}  // namespace facebench
