// The driver through which the library reads files: bytes at an address, or an error. The library's
// own drivers keep a copy of what was read last, whose sums of addresses and sizes a damaged file
// lets wrap around, so that memory is read that is not there (H5F__accum_read, HDF5 1.10). This one
// has no such copy and checks every address itself.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <limits>
#include <memory>
#include <span>
#include <string_view>

#include "io/hdf5_library.h"
#if H5_VERSION_GE(1, 13, 0)
#include <H5FDdevelop.h>
#endif

namespace facebench::hdf5 {
namespace {

// What H5Pset_driver() keeps: an image, or none for the file of the name.
struct Image {
  bool there = false;
  const std::byte* bytes = nullptr;
  std::size_t size = 0;
};

// The library takes a pointer to the first member for the file.
struct OpenFile {
  H5FD_t library{};
  Image image;
  int descriptor = -1;
  haddr_t size = 0;
  haddr_t end = 0;  // of what the library says is in use
};

OpenFile* of(H5FD_t* file) { return reinterpret_cast<OpenFile*>(file); }
const OpenFile* of(const H5FD_t* file) { return reinterpret_cast<const OpenFile*>(file); }

H5FD_t* open_file(const char* name, unsigned flags, hid_t access, haddr_t) {
  const auto* image = static_cast<const Image*>(H5Pget_driver_info(access));
  if (!image || (flags & H5F_ACC_RDWR) != 0) return nullptr;
  auto file = std::make_unique<OpenFile>();
  file->image = *image;
  file->size = image->size;
  if (!image->there) {
    file->descriptor = ::open(name, O_RDONLY | O_CLOEXEC);
    struct stat status {};
    if (file->descriptor < 0) return nullptr;
    if (::fstat(file->descriptor, &status) != 0) {
      ::close(file->descriptor);
      return nullptr;
    }
    file->size = static_cast<haddr_t>(status.st_size);
  }
  return &file.release()->library;
}

herr_t close_file(H5FD_t* file) {
  const std::unique_ptr<OpenFile> own(of(file));
  return own->descriptor >= 0 ? ::close(own->descriptor) : 0;
}

bool copy_bytes(const OpenFile& own, haddr_t address, std::size_t bytes, std::byte* to) {
  if (address > own.size || bytes > own.size - address) return false;
  if (own.image.there) {
    std::copy_n(own.image.bytes + address, bytes, to);
    return true;
  }
  while (bytes > 0) {
    const ssize_t got = ::pread(own.descriptor, to, std::min(bytes, std::size_t{1} << 30),
                                static_cast<off_t>(address));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    to += got;
    address += static_cast<haddr_t>(got);
    bytes -= static_cast<std::size_t>(got);
  }
  return true;
}

// A heap of names whose size, the second word, is near 2^64: the library adds its header's size to
// that and fills what it then allocates, a few bytes, with more than they hold
// (H5HL__cache_prefix_deserialize). Where a file's lengths have fewer bytes the word holds more
// than the size, but not this bit.
bool size_wraps(std::span<const std::byte> heap) {
  constexpr std::string_view kSignature = "HEAP";
  return heap.size() >= 16 && std::memcmp(heap.data(), kSignature.data(), kSignature.size()) == 0 &&
         (heap[15] & std::byte{0x80}) != std::byte{0};
}

herr_t read_file(H5FD_t* file, H5FD_mem_t type, hid_t, haddr_t address, std::size_t bytes,
                 void* out) {
  auto* to = static_cast<std::byte*>(out);
  if (!copy_bytes(*of(file), address, bytes, to)) return -1;
  return type == H5FD_MEM_LHEAP && size_wraps({to, bytes}) ? -1 : 0;
}

hid_t register_driver() {
  H5FD_class_t driver{};
#if H5_VERSION_GE(1, 13, 0)
  driver.version = H5FD_CLASS_VERSION;
  driver.value = static_cast<H5FD_class_value_t>(511);  // of those kept for drivers like this
#endif
  driver.name = "facebench";
  driver.maxaddr = static_cast<haddr_t>(std::numeric_limits<off_t>::max());
  driver.fc_degree = H5F_CLOSE_WEAK;
  driver.fapl_size = sizeof(Image);
  driver.open = open_file;
  driver.close = close_file;
  driver.query = [](const H5FD_t*, unsigned long* flags) -> herr_t {
    if (flags) *flags = H5FD_FEAT_DATA_SIEVE;
    return 0;
  };
  driver.get_eoa = [](const H5FD_t* file, H5FD_mem_t) { return of(file)->end; };
  driver.set_eoa = [](H5FD_t* file, H5FD_mem_t, haddr_t end) -> herr_t {
    of(file)->end = end;
    return 0;
  };
  driver.get_eof = [](const H5FD_t* file, H5FD_mem_t) { return of(file)->size; };
  driver.read = read_file;
  driver.write = [](H5FD_t*, H5FD_mem_t, hid_t, haddr_t, std::size_t, const void*) -> herr_t {
    return -1;
  };
  return H5FDregister(&driver);
}

}  // namespace

bool read_through_own_driver(hid_t access, std::optional<std::span<const std::byte>> image) {
  static const hid_t driver = register_driver();
  const Image what = image ? Image{true, image->data(), image->size()} : Image{};
  return driver >= 0 && H5Pset_driver(access, driver, &what) >= 0;
}

}  // namespace facebench::hdf5
