#include "facebench/io/safetensors.h"

#include <gtest/gtest.h>

#include <cstring>

#include "io/helpers.h"

namespace facebench {
namespace {

using Tensors = std::map<std::string, TensorInfo, std::less<>>;

const float kWeights[6] = {0, 1, 2, 3, 4, -0.5f};
const double kScale[1] = {2.5};
const std::uint8_t kFlags[3] = {1, 0, 1};

Tensors small() {
  return {{"w", {DType::f32, {2, 3}, std::as_bytes(std::span(kWeights))}},
          {"scale", {DType::f64, {}, std::as_bytes(std::span(kScale))}},
          {"flags", {DType::boolean, {3}, std::as_bytes(std::span(kFlags))}},
          {"none", {DType::i64, {0, 5}, {}}}};
}

std::string file_of(const std::string& header, const std::string& data) {
  const std::uint64_t size = header.size();
  std::string bytes(8, '\0');
  std::memcpy(bytes.data(), &size, 8);
  return bytes + header + data;
}

void parse(const std::string& bytes) {
  const SafetensorsFile file(std::as_bytes(std::span(bytes)), "m");
}

std::string one(const std::string& entry, const std::string& data) {
  return file_of("{\"a\":" + entry + "}", data);
}

}  // namespace

TEST(Safetensors, RoundTrip) {
  const TemporaryFolder folder;
  write_safetensors(folder / "m", small(), {{"network", "toy"}});
  const SafetensorsFile file(folder / "m");
  EXPECT_EQ(file.metadata(), (std::map<std::string, std::string>{{"network", "toy"}}));
  EXPECT_EQ(file.tensors().size(), 4u);
  EXPECT_EQ(file.floats("w"), std::vector<float>(std::begin(kWeights), std::end(kWeights)));
  EXPECT_EQ(file.at("w").shape, (std::vector<std::int64_t>{2, 3}));
  EXPECT_EQ(file.at("none").shape, (std::vector<std::int64_t>{0, 5}));
  EXPECT_EQ(file.at("flags").dtype, DType::boolean);
  for (const auto& [name, info] : file.tensors())
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(info.bytes.data()) % dtype_size(info.dtype), 0u);
  EXPECT_ERROR(file.at("W2"), "there is no tensor 'W2' among 4");
  EXPECT_ERROR(file.at("flag"), "Did you mean 'flags'?");
  EXPECT_ERROR(file.floats("scale"), "is F64, expected F32");
  write_safetensors(folder / "n", file.tensors(), file.metadata());
  EXPECT_EQ(read_file(folder / "m"), read_file(folder / "n"));
}

TEST(Safetensors, CutAndChanged) {
  const TemporaryFolder folder;
  write_safetensors(folder / "m", small(), {{"network", "toy"}});
  const std::string bytes = read_file(folder / "m");
  expect_every_cut_refused(bytes, parse);
  EXPECT_ERROR(parse(bytes + "x"), "belong to no tensor");
  expect_no_change_crashes(bytes, parse);
}

TEST(Safetensors, LyingHeaders) {
  const std::string f4(16, '\0');
  parse(one(R"({"dtype":"F32","shape":[4],"data_offsets":[0,16]})", f4));
  EXPECT_ERROR(parse(one(R"({"dtype":"F32","shape":[5],"data_offsets":[0,16]})", f4)),
               "does not fill");
  EXPECT_ERROR(parse(one(R"({"dtype":"F32","shape":[4],"data_offsets":[0,20]})", f4)),
               "not within");
  EXPECT_ERROR(parse(one(R"({"dtype":"F32","shape":[4],"data_offsets":[16,0]})", f4)),
               "not within");
  EXPECT_ERROR(parse(one(R"({"dtype":"F32","shape":[-4],"data_offsets":[0,16]})", f4)),
               "whole number");
  EXPECT_ERROR(parse(one(R"({"dtype":"F32","shape":[4.0],"data_offsets":[0,16]})", f4)),
               "whole number");
  EXPECT_ERROR(parse(one(R"({"dtype":"F33","shape":[4],"data_offsets":[0,16]})", f4)),
               "did you mean");
  EXPECT_ERROR(parse(one(R"({"dtype":"F32","shape":[4]})", f4)), "exactly");
  EXPECT_ERROR(parse(one(R"({"dtype":"F32","shape":[4],"data_offsets":[0,16],"x":1})", f4)),
               "exactly");
  EXPECT_ERROR(parse(one(R"([1])", f4)), "not described by an object");
  // 2^62 * 4 * 4 wraps to 0 in 64 bits.
  EXPECT_ERROR(
      parse(one(R"({"dtype":"F32","shape":[4611686018427387904,4],"data_offsets":[0,0]})", "")),
      "does not fill");
  const std::string a = R"("a":{"dtype":"U8","shape":[8],"data_offsets":[0,8]})";
  EXPECT_ERROR(
      parse(file_of("{" + a + R"(,"b":{"dtype":"U8","shape":[8],"data_offsets":[4,12]}})", f4)),
      "belongs to two tensors");
  EXPECT_ERROR(
      parse(file_of("{" + a + R"(,"b":{"dtype":"U8","shape":[4],"data_offsets":[12,16]}})", f4)),
      "belongs to no tensor");
  EXPECT_ERROR(parse(file_of("{" + a + "," + a + "}", std::string(8, '\0'))), "given twice");
  EXPECT_ERROR(parse(file_of(R"({"__metadata__":{"a":1}})", "")), "is not a text");
  EXPECT_ERROR(parse(file_of("[]", "")), "not a JSON object");
  EXPECT_ERROR(parse(std::string(8, '\xff')), "cut short");
}

TEST(Safetensors, WriterRefuses) {
  const TemporaryFolder folder;
  Tensors wrong = {{"w", {DType::f32, {7}, std::as_bytes(std::span(kWeights))}}};
  EXPECT_THROW(write_safetensors(folder / "m", wrong), std::invalid_argument);
  wrong = {{"__metadata__", {DType::f32, {6}, std::as_bytes(std::span(kWeights))}}};
  EXPECT_THROW(write_safetensors(folder / "m", wrong), std::invalid_argument);
  EXPECT_EQ(folder.entries(), 0u);
}

}  // namespace facebench
