#include "facebench/io/sha256.h"

#include <openssl/evp.h>

#include <algorithm>
#include <array>

#include "facebench/core/error.h"
#include "facebench/io/file.h"

namespace facebench {
namespace {

void require(bool done) {
  if (!done) fail("libcrypto", "computes no SHA-256", "Check OpenSSL and its configuration.");
}

// Fetched once: a search among the providers costs more than a short hash.
const EVP_MD* algorithm() {
  static const EVP_MD* const found = EVP_MD_fetch(nullptr, "SHA2-256", nullptr);
  require(found != nullptr);
  return found;
}

}  // namespace

void Sha256::Free::operator()(evp_md_ctx_st* context) const { EVP_MD_CTX_free(context); }

Sha256::Sha256() : context_(EVP_MD_CTX_new()) {
  require(context_ != nullptr && EVP_DigestInit_ex(context_.get(), algorithm(), nullptr) == 1);
}

void Sha256::update(std::span<const std::byte> bytes) {
  require(EVP_DigestUpdate(context_.get(), bytes.data(), bytes.size()) == 1);
}

std::string Sha256::hex() const {
  Sha256 last;
  std::array<unsigned char, 32> digest{};
  require(EVP_MD_CTX_copy_ex(last.context_.get(), context_.get()) == 1 &&
          EVP_DigestFinal_ex(last.context_.get(), digest.data(), nullptr) == 1);
  std::string text;
  for (const unsigned char byte : digest) {
    text += "0123456789abcdef"[byte >> 4];
    text += "0123456789abcdef"[byte & 15];
  }
  return text;
}

std::string sha256_hex(std::string_view bytes) {
  Sha256 hash;
  hash.update(bytes);
  return hash.hex();
}

std::string sha256_file(const std::filesystem::path& path, const Job& job) {
  constexpr std::size_t kPiece = 4 << 20;
  const MappedFile file(path);
  const std::span<const std::byte> bytes = file.bytes();
  Stage stage(job, "hash", static_cast<std::int64_t>(bytes.size()), "bytes");
  Sha256 hash;
  for (std::size_t done = 0; done < bytes.size();) {
    const std::size_t n = std::min(kPiece, bytes.size() - done);
    hash.update(bytes.subspan(done, n));
    file.forget(done, n);
    done += n;
    stage.update(static_cast<std::int64_t>(done));
  }
  return hash.hex();
}

}  // namespace facebench
