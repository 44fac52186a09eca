#include "facebench/archives/internal/compression.h"

#include <fmt/format.h>

#include <array>
#include <fstream>
#include <string>
#include <system_error>

#include "facebench/core/error.h"

namespace facebench {
namespace {

using namespace std::string_view_literals;

struct Compression {
  std::string_view begins, what, command;
};
constexpr std::string_view kGzipBegins = "\x1f\x8b\x08"sv;
constexpr std::array<Compression, 8> kCompressions{{
    {kGzipBegins, "is compressed by gzip", "Decompress it first: gunzip"},
    {"BZh"sv, "is compressed by bzip2", "Decompress it first: bunzip2"},
    {"\xfd\x37zXZ\0"sv, "is compressed by xz", "Decompress it first: unxz"},
    {"\x28\xb5\x2f\xfd"sv, "is compressed by zstd", "Decompress it first: unzstd"},
    {"\x04\x22\x4d\x18"sv, "is compressed by lz4", "Decompress it first: unlz4"},
    {"PK\x03\x04"sv, "is a zip file", "Unpack it first: unzip"},
    {"7z\xbc\xaf\x27\x1c"sv, "is a 7z file", "Unpack it first: 7z x"},
    {"Rar!\x1a\x07"sv, "is a rar file", "Unpack it first: unrar x"},
}};
constexpr std::size_t kHeadBytes = 8;

}  // namespace

void refuse_compressed(std::span<const std::byte> bytes, std::string_view where) {
  const std::string_view head(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  for (const Compression& one : kCompressions)
    if (head.starts_with(one.begins))
      fail(where, one.what, fmt::format("{} {}.", one.command, where));
}

void refuse_compressed_file(const std::filesystem::path& path) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) return;
  std::array<char, kHeadBytes> head{};
  std::ifstream file(path, std::ios::binary);
  file.read(head.data(), head.size());
  refuse_compressed(std::as_bytes(std::span(head)).first(static_cast<std::size_t>(file.gcount())),
                    path.string());
}

bool begins_gzip(std::span<const std::byte> bytes) {
  return std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size())
      .starts_with(kGzipBegins);
}

}  // namespace facebench
