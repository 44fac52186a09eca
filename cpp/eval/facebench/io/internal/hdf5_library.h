#pragma once

// What the HDF5 reader and writer share; for this floor's sources only.

#include <hdf5.h>
#include <pthread.h>

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "facebench/io/hdf5.h"

namespace facebench::hdf5 {

// Held around every call into the library, which is not safe to call from two threads. Silences the
// library's own error output meanwhile.
class Session {
 public:
  Session() : lock_(mutex()) {
    // The first call of all: without it a file that could not be closed (disk full) makes the
    // library crash at exit.
    static const herr_t once = H5dont_atexit();
    static_cast<void>(once);
    H5Eget_auto2(H5E_DEFAULT, &function_, &data_);
    H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
  }
  ~Session() { H5Eset_auto2(H5E_DEFAULT, function_, data_); }
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

 private:
  // A process forked while another thread is inside the library would find the lock held, and the
  // library's state torn, for ever: fork() waits until nobody is.
  static std::mutex& mutex() {
    static std::mutex m;
    static const int handlers =
        pthread_atfork([] { mutex().lock(); }, [] { mutex().unlock(); }, [] { mutex().unlock(); });
    static_cast<void>(handlers);
    return m;
  }

  std::lock_guard<std::mutex> lock_;
  H5E_auto2_t function_ = nullptr;
  void* data_ = nullptr;
};

// What the library says about its last failure: the innermost message, which is the cause.
std::string library_message();

// An identifier of the library that closes itself.
class Id {
 public:
  Id() = default;
  Id(hid_t id, herr_t (*close)(hid_t)) : id_(id), close_(close) {}
  ~Id() { reset(); }
  Id(const Id&) = delete;
  Id& operator=(const Id&) = delete;
  Id(Id&& other) noexcept : id_(other.release()), close_(other.close_) {}
  Id& operator=(Id&& other) noexcept {
    reset();
    close_ = other.close_;
    id_ = other.release();
    return *this;
  }

  explicit operator bool() const { return id_ >= 0; }
  operator hid_t() const { return id_; }
  hid_t release() { return std::exchange(id_, -1); }

 private:
  void reset() {
    if (id_ >= 0) close_(release());
  }

  hid_t id_ = -1;
  herr_t (*close_)(hid_t) = nullptr;
};

// The library's type for one of our types of numbers.
hid_t native_type(H5Type type);

// false where the product does not fit.
inline bool multiply(std::uint64_t& a, std::uint64_t b) {
  return !__builtin_mul_overflow(a, b, &a);
}

// "/a/b" as {"/a", "/a/b"}. Empty and relative names are mistakes of the caller.
std::vector<std::string> prefixes(std::string_view name);

// How every file is opened.
Id access_properties();

// Lets the file be read by a driver of ours (guard/hdf5_driver.cc): from the disk, or from `image`,
// which has to outlive it. false where the library refuses.
bool read_through_own_driver(hid_t access, std::optional<std::span<const std::byte>> image);

// Bytes of a file that was opened so. false where they are not all there.
bool read_bytes(hid_t file, std::uint64_t address, std::span<std::byte> out);

// Where a chunk lies by the dataset's index, which is not to be believed, and which filters it went
// without. No value for one that was never written, or that the library does not find. The library
// has no function that says so without a walk through the whole index: it is asked to read the
// chunk, and the driver writes down what it is asked for in place of reading.
struct StoredChunk {
  std::uint64_t address = 0, bytes = 0;
  std::uint32_t mask = 0;
};
std::optional<StoredChunk> stored_chunk(hid_t file, hid_t dataset, const hsize_t* corner);

// Throws Error where a chunk of a dataset does not hold the bytes of one, or would unpack to more
// (guard/hdf5_chunks.cc). To be asked before the library reads.
void check_chunks(hid_t file, hid_t dataset, std::span<const std::int64_t> shape,
                  std::uint64_t element_bytes, std::uint64_t file_bytes, const std::string& where);

// The bytes of a chunk without the filters that were applied to it: all but those of the mask.
// Throws Error where they are not `chunk_bytes`.
std::vector<std::byte> unfiltered(std::vector<std::byte> bytes, hid_t properties,
                                  std::uint32_t mask, std::uint64_t chunk_bytes,
                                  const std::string& where);

bool has_filter(hid_t properties, H5Z_filter_t kind);

// A one-dimensional dataset of texts of variable length, each up to its first NUL
// (guard/hdf5_texts.cc).
std::vector<std::string> read_variable_texts(hid_t file, hid_t dataset, std::uint64_t elements,
                                             std::uint64_t file_bytes, const std::string& where);

}  // namespace facebench::hdf5
