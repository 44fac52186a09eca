#include "facebench/io/tree_hash.h"

#include <stdexcept>

#include "facebench/io/sha256.h"

namespace facebench {

std::string tree_sha256(std::span<const std::string> hashes, std::span<const std::string> names) {
  if (hashes.size() != names.size())
    throw std::invalid_argument("tree_sha256: a hash for each name is needed");
  Sha256 tree;
  for (std::size_t i = 0; i < hashes.size(); ++i) {
    tree.update(hashes[i]);
    tree.update("  ");
    tree.update(names[i]);
    tree.update("\n");
  }
  return tree.hex();
}

}  // namespace facebench
