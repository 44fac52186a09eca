#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "facebench/core/job.h"

struct evp_md_ctx_st;  // of OpenSSL

namespace facebench {

// SHA-256 by libcrypto, fed in pieces. Source: FIPS 180-4, section 6.2. Throws Error where
// libcrypto refuses.
class Sha256 {
 public:
  Sha256();
  void update(std::span<const std::byte> bytes);
  void update(std::string_view bytes) { update(std::as_bytes(std::span(bytes))); }
  // The hash of everything so far, 64 lower-case digits. More may follow.
  std::string hex() const;

 private:
  struct Free {
    void operator()(evp_md_ctx_st* context) const;
  };
  std::unique_ptr<evp_md_ctx_st, Free> context_;
};

std::string sha256_hex(std::string_view bytes);
// Of a file's bytes, read in pieces. Throws Error.
std::string sha256_file(const std::filesystem::path& path, const Job& job = {});

}  // namespace facebench
