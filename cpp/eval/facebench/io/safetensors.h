#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "facebench/io/file.h"

namespace facebench {

// The safetensors format: eight bytes that tell the length of a JSON header, the header (for each
// tensor its type, shape and place), then the numbers, little-endian, row-major.
// Source: the format's own description in the README of huggingface/safetensors.

enum class DType : std::uint8_t {
  f64,
  f32,
  f16,
  bf16,
  i64,
  i32,
  i16,
  i8,
  u64,
  u32,
  u16,
  u8,
  boolean
};

// As the format spells it: "F32", "BF16", "BOOL", ...
std::string_view dtype_name(DType dtype);
// Throws std::invalid_argument with "did you mean".
DType parse_dtype(std::string_view name);
std::size_t dtype_size(DType dtype);  // bytes of one number

struct TensorInfo {
  DType dtype = DType::f32;
  std::vector<std::int64_t> shape;  // none = one number
  std::span<const std::byte> bytes;
};

// A file of tensors, mapped into memory. Nothing in it is trusted: the constructor throws Error
// unless the header is complete and sound, every tensor's bytes agree with its type and shape, and
// the tensors cover the data exactly once.
class SafetensorsFile {
 public:
  explicit SafetensorsFile(const std::filesystem::path& path);
  // The same for bytes in memory, which must outlive the object; messages call it `name`.
  SafetensorsFile(std::span<const std::byte> bytes, std::string name);

  const std::string& name() const { return name_; }
  // In byte order.
  const std::map<std::string, TensorInfo, std::less<>>& tensors() const { return tensors_; }
  const std::map<std::string, std::string>& metadata() const { return metadata_; }
  bool has(std::string_view tensor) const { return tensors_.contains(tensor); }
  // Throws Error with "did you mean".
  const TensorInfo& at(std::string_view tensor) const;
  // A copy of an F32 tensor's numbers. Throws Error for another type.
  std::vector<float> floats(std::string_view tensor) const;

 private:
  void parse(std::span<const std::byte> bytes);

  std::string name_;
  MappedFile file_;
  std::map<std::string, TensorInfo, std::less<>> tensors_;
  std::map<std::string, std::string> metadata_;
};

// Writes atomically; the same tensors give the same bytes whatever the order of `tensors`: widest
// numbers first, so that each is aligned, then by name. Throws std::invalid_argument where bytes
// and shape disagree or a name is "__metadata__".
void write_safetensors(const std::filesystem::path& path,
                       const std::map<std::string, TensorInfo, std::less<>>& tensors,
                       const std::map<std::string, std::string>& metadata = {});

}  // namespace facebench
