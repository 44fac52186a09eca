#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <exception>
#include <filesystem>
#include <string>

#include "facebench/core/error.h"
#include "facebench/io/file.h"

namespace facebench {

// A folder of its own for one test, removed at its end.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "facebench-XXXXXX").string();
    path_ = ::mkdtemp(pattern.data());
  }
  ~TemporaryFolder() { std::filesystem::remove_all(path_); }
  std::filesystem::path operator/(const std::string& name) const { return path_ / name; }
  const std::filesystem::path& path() const { return path_; }
  std::size_t entries() const {
    std::size_t n = 0;
    for (const auto& entry : std::filesystem::directory_iterator(path_)) {
      static_cast<void>(entry);
      ++n;
    }
    return n;
  }

 private:
  std::filesystem::path path_;
};

// The text of the Error that `f` throws; other exceptions pass.
template <class F>
std::string error_of(F&& f) {
  try {
    f();
  } catch (const Error& e) {
    return e.what();
  }
  return "no error";
}

// Expects that f() throws an Error whose text contains `part`.
#define EXPECT_ERROR(statement, part)                                                      \
  do {                                                                                     \
    const std::string text = ::facebench::error_of([&] { static_cast<void>(statement); }); \
    EXPECT_NE(text.find(part), std::string::npos) << text;                                 \
  } while (false)

// Feeds every proper prefix of `bytes` to `read`, which must throw Error for each.
template <class F>
void expect_every_cut_refused(const std::string& bytes, F&& read) {
  for (std::size_t n = 0; n < bytes.size(); ++n)
    ASSERT_NE(error_of([&] { read(bytes.substr(0, n)); }), "no error") << "cut to " << n;
}

// Changes each byte in turn in several ways; `read` may accept or throw Error, nothing else.
template <class F>
void expect_no_change_crashes(const std::string& bytes, F&& read) {
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    for (const int change : {0x01, 0x80, 0xFF, 0x20}) {
      std::string changed = bytes;
      changed[i] = static_cast<char>(changed[i] ^ change);
      error_of([&] { read(changed); });
    }
  }
}

}  // namespace facebench
