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
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "facebench/guard/internal/hdf5_headers.h"
#include "facebench/io/internal/hdf5_library.h"
#include "facebench/io/internal/memory_number.h"
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
  std::optional<ObjectHeaders> headers;
  std::optional<StoredChunk> asked;  // where a chunk lies, in place of its bytes
};

OpenFile* of(H5FD_t* file) { return reinterpret_cast<OpenFile*>(file); }
const OpenFile* of(const H5FD_t* file) { return reinterpret_cast<const OpenFile*>(file); }

bool copy_bytes(const OpenFile& file, haddr_t address, std::size_t bytes, std::byte* to) {
  if (address > file.size || bytes > file.size - address) return false;
  if (file.image.there) {
    std::copy_n(file.image.bytes + address, bytes, to);
    return true;
  }
  while (bytes > 0) {
    const ssize_t got = ::pread(file.descriptor, to, std::min(bytes, std::size_t{1} << 30),
                                static_cast<off_t>(address));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    to += got;
    address += static_cast<haddr_t>(got);
    bytes -= static_cast<std::size_t>(got);
  }
  return true;
}

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
  file->headers.emplace(file->size,
                        [own = file.get()](std::uint64_t address, std::span<std::byte> out) {
                          return copy_bytes(*own, address, out.size(), out.data());
                        });
  return &file.release()->library;
}

herr_t close_file(H5FD_t* file) {
  const std::unique_ptr<OpenFile> opened(of(file));
  return opened->descriptor >= 0 ? ::close(opened->descriptor) : 0;
}

// A heap of names (HDF5 file format 3.0, III.D) that the library can take as it is, for it follows
// most of what a heap says without looking (HDF5 1.10): it adds its header's size to that of the
// names, whatever comes out (H5HL__cache_prefix_deserialize); reads 16 bytes of every free block,
// the last of which may lie at the end, and goes round where blocks name one another
// (H5HL__fl_deserialize); and takes a name to end in a NUL. Addresses and lengths have 8 bytes
// (H5Reader refuses others).
bool is_sound(std::span<const std::byte> heap, const OpenFile& file) {
  constexpr std::size_t kHeader = 32, kFreeBlock = 16;
  constexpr std::uint64_t kNoFreeBlock = 1;
  if (heap.size() < kHeader) return false;
  const auto size = number_at<std::uint64_t>(heap.data() + 8);
  auto free = number_at<std::uint64_t>(heap.data() + 16);
  const auto address = number_at<std::uint64_t>(heap.data() + 24);
  if (size > file.size || (size < kFreeBlock && free != kNoFreeBlock)) return false;
  std::vector<std::byte> names(size);
  if (!copy_bytes(file, address, size, names.data())) return false;
  std::uint64_t blocks = 0;
  while (free != kNoFreeBlock) {
    if (free > size - kFreeBlock || ++blocks > size / kFreeBlock) return false;
    free = number_at<std::uint64_t>(&names[free]);
  }
  return names.empty() || names.back() == std::byte{0};
}

herr_t read_file(H5FD_t* file, H5FD_mem_t type, hid_t, haddr_t address, std::size_t bytes,
                 void* out) {
  constexpr std::string_view kSignature = "HEAP";
  auto* to = static_cast<std::byte*>(out);
  if (type == H5FD_MEM_DRAW && of(file)->asked) {
    of(file)->asked->address = address;
    of(file)->asked->bytes = bytes;
    return 0;
  }
  if (!copy_bytes(*of(file), address, bytes, to)) return -1;
  const bool is_heap = type == H5FD_MEM_LHEAP && bytes >= kSignature.size() &&
                       std::memcmp(to, kSignature.data(), kSignature.size()) == 0;
  if (is_heap && !is_sound({to, bytes}, *of(file))) return -1;
  if (type != H5FD_MEM_OHDR || of(file)->headers->are_sound(address, {to, bytes}, of(file)->end))
    return 0;
  H5Epush2(H5E_DEFAULT, "hdf5_driver.cc", __func__, __LINE__, H5E_ERR_CLS, H5E_VFL, H5E_READERROR,
           "an object's header is damaged, or that of a virtual data set, which is not supported");
  return -1;
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
  driver.get_handle = [](H5FD_t* file, hid_t, void** handle) -> herr_t {
    *handle = file;
    return 0;
  };
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

std::optional<StoredChunk> stored_chunk(hid_t file, hid_t dataset, const hsize_t* corner) {
  void* handle = nullptr;
  if (H5Fget_vfd_handle(file, H5P_DEFAULT, &handle) < 0) return {};
  OpenFile& open_file = *of(static_cast<H5FD_t*>(handle));
  open_file.asked.emplace();
  std::uint32_t mask = 0;
  std::byte untouched{};
  const herr_t result = H5Dread_chunk(dataset, H5P_DEFAULT, corner, &mask, &untouched);
  std::optional<StoredChunk> chunk = std::exchange(open_file.asked, {});
  if (result < 0) return {};
  chunk->mask = mask;
  return chunk;
}

bool read_bytes(hid_t file, std::uint64_t address, std::span<std::byte> out) {
  void* handle = nullptr;
  return H5Fget_vfd_handle(file, H5P_DEFAULT, &handle) >= 0 &&
         copy_bytes(*of(static_cast<H5FD_t*>(handle)), address, out.size(), out.data());
}

}  // namespace facebench::hdf5
