#include "facebench/io/hdf5.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>
#include <fstream>
#include <numeric>
#include <thread>

#include "facebench/core/error.h"
#include "facebench/io/confine.h"
#include "facebench/io/file.h"
#include "facebench/io/sha256.h"
#include "guard/confined.h"
#include "io/helpers.h"

namespace facebench {
namespace {

void write_small(const std::filesystem::path& path) {
  H5Writer w(path);
  std::vector<std::uint8_t> images(3 * 4 * 4 * 3);
  std::iota(images.begin(), images.end(), std::uint8_t{1});
  w.create_dataset("/images", H5Type::uint8, {3, 4, 4, 3});
  for (std::int64_t i = 0; i < 3; ++i)
    w.write_rows<std::uint8_t>("/images", i, std::span(images).subspan(i * 48, 48));
  w.write<std::int32_t>("/label", std::vector<std::int32_t>{5, -6, 7}, {3});
  w.write<float>("/all/score", std::vector<float>{0.5f, 1.5f}, {2});
  w.write_texts("/name", std::vector<std::string>{"a/b.jpg", "", "Zo\xC3\xAB"});
  w.write_json("/manifest", {{"b", 1}, {"a", {1.5, nullptr}}});
  w.commit();
}

// Each of these by the library in this process (false) and in a confined child (true).
class Hdf5Read : public ::testing::TestWithParam<bool> {
 protected:
  void SetUp() override {
    if (GetParam() && !can_confine()) GTEST_SKIP() << "processes cannot be confined here";
    before_ = confine_readers(GetParam());
  }
  void TearDown() override { confine_readers(before_); }

 private:
  bool before_ = false;
};
INSTANTIATE_TEST_SUITE_P(Confined, Hdf5Read, ::testing::Bool());

}  // namespace

TEST_P(Hdf5Read, RoundTrip) {
  const TemporaryFolder folder;
  write_small(folder / "x.h5");
  EXPECT_EQ(folder.entries(), 1u);
  const H5Reader r(folder / "x.h5");
  EXPECT_EQ(r.shape("/images"), (std::vector<std::int64_t>{3, 4, 4, 3}));
  EXPECT_EQ(r.type("/images"), H5Type::uint8);
  EXPECT_EQ(r.read<std::int32_t>("/label", 1), (std::vector<std::int32_t>{5, -6, 7}));
  EXPECT_EQ(r.read<float>("/all/score"), (std::vector<float>{0.5f, 1.5f}));
  EXPECT_EQ(r.read_texts("/name"), (std::vector<std::string>{"a/b.jpg", "", "Zo\xC3\xAB"}));
  EXPECT_EQ(canonical_json(r.read_json("/manifest")), R"({"a":[1.5,null],"b":1})");
  EXPECT_EQ(r.names(), (std::vector<std::string>{"all", "images", "label", "manifest", "name"}));
  EXPECT_EQ(r.names("/all"), (std::vector<std::string>{"score"}));
  EXPECT_TRUE(r.has("/all/score"));
  EXPECT_FALSE(r.has("/all/other"));
  EXPECT_FALSE(r.has("/label/other"));
  const std::vector<std::uint8_t> images = r.read<std::uint8_t>("/images", 4);
  EXPECT_EQ(images[48], 49);
  const MappedFile mapped(folder / "x.h5");
  const std::uint64_t offset = r.dataset_offset("/images").value();
  EXPECT_EQ(std::memcmp(mapped.bytes().data() + offset, images.data(), images.size()), 0);
}

TEST(Hdf5, SameContentSameBytes) {
  const TemporaryFolder folder;
  write_small(folder / "a.h5");
  std::string noise(1 << 20, '\xAB');  // leaves traces in memory that is reused
  noise.clear();
  noise.shrink_to_fit();
  write_small(folder / "b.h5");
  EXPECT_EQ(sha256_file(folder / "a.h5"), sha256_file(folder / "b.h5"));
}

TEST_P(Hdf5Read, LargeDatasetsAreAlignedAndEmptyOnesHaveNoPlace) {
  const TemporaryFolder folder;
  H5Writer w(folder / "x.h5");
  w.write<std::uint8_t>("/odd", std::vector<std::uint8_t>(5001, 1), {5001});
  w.write<double>("/big", std::vector<double>(1000, 2.0), {1000});
  w.write<float>("/empty", std::vector<float>{}, {0, 128});
  w.write_texts("/name", std::vector<std::string>{});
  w.commit();
  const H5Reader r(folder / "x.h5");
  EXPECT_EQ(r.dataset_offset("/big").value() % 4096, 0u);
  EXPECT_EQ(r.dataset_offset("/empty"), std::nullopt);
  EXPECT_TRUE(r.read<float>("/empty", 2).empty());
  EXPECT_TRUE(r.read_texts("/name").empty());
}

TEST(Hdf5, WrongUse) {
  const TemporaryFolder folder;
  {
    H5Writer w(folder / "x.h5");
    w.create_dataset("/a", H5Type::float32, {2, 3});
    const std::vector<float> row(3);
    EXPECT_THROW(w.write_rows<float>("/a", 0, std::span(row).first(2)), std::invalid_argument);
    EXPECT_THROW(w.write_rows<float>("/a", 2, row), std::out_of_range);
    EXPECT_THROW(w.write_rows<float>("/b", 0, row), std::invalid_argument);
    EXPECT_THROW(w.write_rows<double>("/a", 0, std::vector<double>(3)), std::invalid_argument);
    EXPECT_THROW(w.write<float>("/c", row, {2}), std::invalid_argument);
    EXPECT_THROW(w.create_dataset("d", H5Type::float32, {1}), std::invalid_argument);
    EXPECT_THROW(w.create_dataset("/d", H5Type::float32, {-1}), std::invalid_argument);
    EXPECT_THROW(w.create_dataset("/d", H5Type::float64, {1ll << 40, 1ll << 40}),
                 std::invalid_argument);
    EXPECT_THROW(w.write_texts("/d", std::vector<std::string>{std::string("a\0b", 3)}),
                 std::invalid_argument);
    w.write_rows<float>("/a", 0, row);
    EXPECT_THROW(w.commit(), std::logic_error);  // row 1 is missing
  }
  EXPECT_EQ(folder.entries(), 0u);  // nothing half-written stays
}

TEST(Hdf5Write, TextsInPieces) {
  const TemporaryFolder folder;
  const std::vector<std::string> texts{"a/b.jpg", "", "Zo\xC3\xAB", "c"};
  {
    H5Writer w(folder / "whole.h5");
    w.write_texts("/name", texts);
    w.commit();
  }
  H5Writer w(folder / "pieces.h5");
  w.create_texts("/name", 4, 7);
  EXPECT_THROW(w.write_text_rows("/name", 3, std::span(texts).first(2)), std::out_of_range);
  EXPECT_THROW(w.write_text_rows("/name", 0, std::vector<std::string>{"longer than 7"}),
               std::invalid_argument);
  EXPECT_THROW(w.write_text_rows("/name", 0, std::vector<std::string>{"\xff"}),
               std::invalid_argument);
  EXPECT_THROW(w.write_rows<std::uint8_t>("/name", 0, std::vector<std::uint8_t>(7)),
               std::invalid_argument);
  w.write_text_rows("/name", 2, std::span(texts).subspan(2));
  EXPECT_THROW(H5Writer(folder / "other.h5").write_text_rows("/name", 0, texts),
               std::invalid_argument);
  w.write_text_rows("/name", 0, std::span(texts).first(2));
  w.commit();
  EXPECT_EQ(read_file(folder / "pieces.h5"), read_file(folder / "whole.h5"));
}

TEST_P(Hdf5Read, Errors) {
  const TemporaryFolder folder;
  write_small(folder / "x.h5");
  const H5Reader r(folder / "x.h5");
  EXPECT_ERROR(r.read<float>("/nothing"), "x.h5: /nothing: there is no such dataset");
  EXPECT_ERROR(r.read<float>("/label"), "is of type int32, expected float32");
  EXPECT_ERROR(r.read<std::int32_t>("/label", 2), "has 1 dimensions (3), expected 2");
  EXPECT_ERROR(r.read<float>("/all"), "/all: cannot open this dataset");
  EXPECT_ERROR(r.read_texts("/label"), "expected text");
  EXPECT_ERROR(H5Reader(folder / "none.h5"), "No such file");
  EXPECT_ERROR(H5Reader(folder.path()), "is a folder");
  write_file(folder / "text.h5", "hello, this is not HDF5");
  EXPECT_ERROR(H5Reader(folder / "text.h5"), "is not an HDF5 file");
  EXPECT_THROW(r.has("images"), std::invalid_argument);
}

TEST(Hdf5, ADiskThatIsFullIsAnErrorAndLeavesNothing) {
  const TemporaryFolder folder;
  {
    H5Writer w(folder / "x.h5");
    EXPECT_ERROR(w.create_dataset("/a", H5Type::uint8, {1ll << 50}), "cannot reserve");
  }
  EXPECT_EQ(folder.entries(), 0u);
}

TEST_P(Hdf5Read, EveryCutIsRefused) {
  const TemporaryFolder folder;
  write_small(folder / "x.h5");
  const std::string bytes = read_file(folder / "x.h5");
  const std::filesystem::path cut = folder / "cut.h5";
  write_file(cut, bytes);
  for (std::size_t n = bytes.size(); n-- > 0;) {
    std::filesystem::resize_file(cut, n);
    ASSERT_NE(error_of([&] { H5Reader reader(cut); }), "no error") << n;
  }
}

TEST_P(Hdf5Read, ThreadsTakeTurns) {
  const TemporaryFolder folder;
  write_small(folder / "x.h5");
  std::vector<std::thread> threads;
  std::atomic<int> good{0};
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      for (int i = 0; i < 50; ++i) {
        const H5Reader r(folder / "x.h5");
        if (r.read<std::int32_t>("/label")[1] == -6 && !r.has("/none")) ++good;
      }
    });
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(good, 200);
}

}  // namespace facebench
