#include "facebench/io/embeddings.h"

#include <gtest/gtest.h>

#include <cmath>

#include "facebench/io/hdf5.h"
#include "facebench/io/manifest.h"
#include "io/helpers.h"

namespace facebench {
namespace {

EmbeddingSet small() {
  EmbeddingSet set;
  set.dim = 2;
  set.values = {1, 2, 0, 0, 3, 4};
  set.names = {"a.jpg", "b.jpg", "c.jpg#1"};
  set.status = {SampleStatus::ok, SampleStatus::no_face, SampleStatus::ok};
  set.manifest = {{"model", "toy"}};
  return set;
}

}  // namespace

TEST(Embeddings, RoundTrip) {
  const TemporaryFolder folder;
  write_embeddings(folder / "e.h5", small());
  const EmbeddingSet set = read_embeddings(folder / "e.h5");
  EXPECT_EQ(set.dim, 2);
  EXPECT_EQ(set.values, small().values);
  EXPECT_EQ(set.names, small().names);
  EXPECT_EQ(set.status, small().status);
  EXPECT_EQ(set.manifest, small().manifest);
  EXPECT_EQ(set.row(2)[1], 4);
  write_embeddings(folder / "f.h5", set);
  EXPECT_EQ(read_file(folder / "e.h5"), read_file(folder / "f.h5"));
}

TEST(Embeddings, Checks) {
  const auto broken = [](auto change) {
    return error_of([&] {
      EmbeddingSet set = small();
      change(set);
      check_embeddings(set, "e.h5");
    });
  };
  EXPECT_EQ(broken([](EmbeddingSet&) {}), "no error");
  EXPECT_NE(broken([](EmbeddingSet& s) {
              s.values[5] = std::nanf("");
            }).find("e.h5: row 2 ('c.jpg#1') holds NaN"),
            std::string::npos);
  EXPECT_NE(broken([](EmbeddingSet& s) { s.values[0] = HUGE_VALF; }).find("row 0"),
            std::string::npos);
  EXPECT_NE(
      broken([](EmbeddingSet& s) { s.values[2] = 1; }).find("row 1 ('b.jpg') has status no_face"),
      std::string::npos);
  EXPECT_NE(broken([](EmbeddingSet& s) { s.values[2] = std::nanf(""); }).find("row 1"),
            std::string::npos);
  EXPECT_NE(broken([](EmbeddingSet& s) { s.names[2] = "a.jpg"; }).find("row 2: the name 'a.jpg'"),
            std::string::npos);
  EXPECT_NE(broken([](EmbeddingSet& s) { s.names[1] = ""; }).find("row 1 has no name"),
            std::string::npos);
  EmbeddingSet set = small();
  set.values.pop_back();
  EXPECT_THROW(check_embeddings(set, "x"), std::invalid_argument);
  set = small();
  set.dim = 0;
  EXPECT_THROW(check_embeddings(set, "x"), std::invalid_argument);
}

TEST(Embeddings, FilesOfOthers) {
  const TemporaryFolder folder;
  const auto write = [&](auto fill) {
    H5Writer w(folder / "e.h5");
    fill(w);
    w.commit();
    return read_embeddings(folder / "e.h5");
  };
  const std::vector<float> values = {1, 2, 3, 4};
  const std::vector<std::string> names = {"a", "b"};
  const EmbeddingSet set = write([&](H5Writer& w) {
    w.write<float>("/embedding", values, {2, 2});
    w.write_texts("/name", names);
  });
  EXPECT_EQ(set.status, std::vector<SampleStatus>(2, SampleStatus::ok));
  EXPECT_EQ(set.manifest, Json::object());
  EXPECT_ERROR(write([&](H5Writer& w) {
                 w.write<float>("/embedding", values, {2, 2});
               }),
               "has no data set /name");
  EXPECT_ERROR(write([&](H5Writer& w) {
                 w.write<float>("/embedding", values, {4, 1});
                 w.write_texts("/name", names);
               }),
               "/embedding has 4 rows, /name 2");
  EXPECT_ERROR(write([&](H5Writer& w) {
                 w.write<float>("/embedding", values, {2, 2});
                 w.write_texts("/name", names);
                 w.write<std::uint8_t>("/status", std::vector<std::uint8_t>{0, 9}, {2});
               }),
               "row 1 holds 9, which is not a status");
  EXPECT_ERROR(write([&](H5Writer& w) {
                 w.write<float>("/embedding", values, {4});
                 w.write_texts("/name", names);
               }),
               "has 1 dimensions");
}

TEST(Embeddings, EveryCutIsRefused) {
  const TemporaryFolder folder;
  write_embeddings(folder / "e.h5", small());
  const auto size = std::filesystem::file_size(folder / "e.h5");
  for (auto n = size; n-- > 0;) {
    std::filesystem::resize_file(folder / "e.h5", n);
    ASSERT_NE(error_of([&] { read_embeddings(folder / "e.h5"); }), "no error") << n;
  }
}

TEST(SampleStatus, Names) {
  std::vector<std::string_view> names;
  for (int i = 0; i < kSampleStatusCount; ++i)
    names.push_back(sample_status_name(sample_status_of(i)));
  EXPECT_EQ(names,
            (std::vector<std::string_view>{"ok", "no_face", "unreadable", "missing", "rejected"}));
  EXPECT_THROW(sample_status_of(5), std::out_of_range);
  EXPECT_THROW(sample_status_of(-1), std::out_of_range);
}

TEST(Manifest, RoundTrip) {
  const TemporaryFolder folder;
  Manifest manifest;
  manifest.content = content_basics();
  manifest.content["seed"] = 3;
  manifest.circumstance = circumstance_of_this_process("facebench eval lfw", 2);
  write_manifest(folder / "run.json", manifest);
  const Manifest back = read_manifest(folder / "run.json");
  EXPECT_EQ(back.content, manifest.content);
  EXPECT_EQ(back.circumstance, manifest.circumstance);
  EXPECT_EQ(back.circumstance["command"], "facebench eval lfw");
  EXPECT_EQ(content_hash(back), content_hash(manifest));
  manifest.circumstance["threads"] = 4;
  EXPECT_EQ(content_hash(back), content_hash(manifest));
  manifest.content["seed"] = 4;
  EXPECT_NE(content_hash(back), content_hash(manifest));
  EXPECT_ERROR(manifest_from_json({{"content", 1}}, "run.json"), "has no object 'content'");
  EXPECT_ERROR(manifest_from_json(Json::array(), "run.json"), "is not a manifest");
  const std::string now = utc_now();
  EXPECT_EQ(now.size(), 20u);
  EXPECT_EQ(now[10], 'T');
  EXPECT_EQ(now.back(), 'Z');
}

}  // namespace facebench
