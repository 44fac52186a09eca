#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>

namespace facebench {

// A member of a tar file.
struct TarMember {
  std::string name;
  std::uint64_t offset = 0;  // of its bytes
  std::uint64_t size = 0;
};

// Calls `take` for each regular file, in order; folders are passed over. POSIX ustar and pax, GNU's
// long names and large sizes. Throws Error beginning with `where`, naming the byte, for a damaged
// header, a member longer than the file, a missing end of the archive, an absolute name or one with
// "..", and for links, devices and sparse files. `damage` gets true before an error that a cut or
// damaged file explains, as opposed to one of content that is refused.
// Source: POSIX.1-2017, pax, "ustar Interchange Format"; GNU tar, "Basic Tar Format".
void read_tar(std::span<const std::byte> bytes, std::string_view where,
              const std::function<void(TarMember&&)>& take, bool& damage);

// Whether a member of this name would lie outside: an absolute one, one with "..", an empty one.
bool leaves_archive(std::string_view name);

// A regular file as it stands in a tar file (ustar; pax for names above 100 bytes), with mode 0644
// and no time, so that equal files have equal bytes. Throws std::invalid_argument for a name that
// read_tar refuses.
std::string tar_member(std::string_view name, std::string_view bytes);
// What ends the archive.
std::string tar_end();

}  // namespace facebench
