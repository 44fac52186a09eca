#include "facebench/io/internal/unfold.h"

#include <fmt/format.h>
#include <lzma.h>
#include <zlib.h>

#include <algorithm>
#include <cstdint>
#include <limits>

#include "facebench/core/error.h"

namespace facebench {
namespace {

constexpr std::size_t kStep = 1 << 20;
constexpr std::uint64_t kDecoderMemory = 256ull << 20;  // xz -9 takes 65 MiB

std::size_t most_unfolded(std::size_t folded) {
  return std::min(std::size_t{8} << 30, std::max(std::size_t{64} << 20, 64 * folded));
}

// Room for more; throws where the bound is reached.
void grow(std::string& out, std::size_t used, std::size_t most, std::string_view where) {
  if (used >= most)
    fail(
        where, fmt::format("unfolds to more than {} MiB", most >> 20),
        "Images hardly shrink: this is not an archive of them. Unfold it by hand if you trust it.");
  out.resize(std::min(most, used + std::max(kStep, used / 2)));
}

[[noreturn]] void refuse_damaged(std::string_view where, std::string_view kind) {
  fail(where, fmt::format("the {} file is cut off or damaged", kind), "Get it again.");
}

}  // namespace

std::string unfold_gzip(std::span<const std::byte> bytes, std::string_view where) {
  constexpr int any_window_gzip = 15 + 16;
  const std::size_t most = most_unfolded(bytes.size());
  z_stream stream{};
  if (inflateInit2(&stream, any_window_gzip) != Z_OK) fail(where, "zlib cannot start");
  struct End {
    z_stream* stream;
    ~End() { inflateEnd(stream); }
  } end{&stream};
  std::string out;
  std::size_t used = 0, at = 0;
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(bytes.data()));
  for (;;) {
    const auto piece = static_cast<uInt>(std::min<std::size_t>(bytes.size() - at, 1u << 30));
    if (used == out.size()) grow(out, used, most, where);
    const auto room = static_cast<uInt>(std::min<std::size_t>(out.size() - used, 1u << 30));
    stream.avail_in = piece;
    stream.avail_out = room;
    stream.next_out = reinterpret_cast<Bytef*>(out.data() + used);
    const int result = inflate(&stream, Z_NO_FLUSH);
    at += piece - stream.avail_in;
    used += room - stream.avail_out;
    if (result == Z_STREAM_END) {
      if (at == bytes.size()) break;
      // Another member, or the zeros that pad a tape.
      if (std::ranges::all_of(bytes.subspan(at), [](std::byte b) { return b == std::byte{0}; }))
        break;
      if (inflateReset(&stream) != Z_OK) refuse_damaged(where, "gzip");
      continue;
    }
    const bool stuck = piece == stream.avail_in && room == stream.avail_out;
    if ((result != Z_OK && result != Z_BUF_ERROR) || stuck) refuse_damaged(where, "gzip");
  }
  out.resize(used);
  return out;
}

std::string unfold_xz(std::span<const std::byte> bytes, std::string_view where) {
  const std::size_t most = most_unfolded(bytes.size());
  lzma_stream stream = LZMA_STREAM_INIT;
  if (lzma_stream_decoder(&stream, kDecoderMemory, LZMA_CONCATENATED) != LZMA_OK)
    fail(where, "liblzma cannot start");
  struct End {
    lzma_stream* stream;
    ~End() { lzma_end(stream); }
  } end{&stream};
  std::string out;
  std::size_t used = 0;
  stream.next_in = reinterpret_cast<const std::uint8_t*>(bytes.data());
  stream.avail_in = bytes.size();
  for (;;) {
    if (used == out.size()) grow(out, used, most, where);
    stream.next_out = reinterpret_cast<std::uint8_t*>(out.data() + used);
    stream.avail_out = out.size() - used;
    const lzma_ret result = lzma_code(&stream, LZMA_FINISH);
    used = out.size() - stream.avail_out;
    if (result == LZMA_STREAM_END) break;
    if (result == LZMA_MEMLIMIT_ERROR)
      fail(where, fmt::format("takes more than {} MiB to unfold", kDecoderMemory >> 20));
    if (result != LZMA_OK) refuse_damaged(where, "xz");
  }
  out.resize(used);
  return out;
}

}  // namespace facebench
