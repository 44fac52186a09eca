#include "facebench/io/internal/inflate.h"

#include <zlib.h>

#include <algorithm>
#include <new>

namespace facebench {

Inflated inflate_zlib(std::span<const std::byte> packed, std::size_t most) {
  z_stream stream{};
  if (::inflateInit(&stream) != Z_OK) throw std::bad_alloc();
  Inflated out;
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(packed.data()));
  stream.avail_in = static_cast<uInt>(packed.size());
  int state = Z_OK;
  while (state == Z_OK && out.bytes.size() <= most) {
    const std::size_t done = out.bytes.size();
    out.bytes.resize(done + std::max<std::size_t>(1 << 16, done / 2));
    stream.next_out = reinterpret_cast<Bytef*>(out.bytes.data() + done);
    stream.avail_out = static_cast<uInt>(out.bytes.size() - done);
    state = ::inflate(&stream, Z_NO_FLUSH);
    out.bytes.erase(out.bytes.end() - static_cast<std::ptrdiff_t>(stream.avail_out),
                    out.bytes.end());
  }
  ::inflateEnd(&stream);
  out.whole = state == Z_STREAM_END && out.bytes.size() <= most;
  return out;
}

}  // namespace facebench
