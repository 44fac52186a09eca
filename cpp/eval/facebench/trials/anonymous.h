#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "facebench/trials/trials.h"

namespace facebench {

// Names of images, templates and people as hashes, for a run of lists that are secret. The key of
// the hashes is all names of the lists together: who holds the lists computes the same hashes, who
// does not cannot try a name.
class HashedNames {
 public:
  explicit HashedNames(const TrialSet& trials);
  // 32 hexadecimal digits.
  std::string of(std::string_view name) const;
  // The trials under hashed names. Of blemishes the numbers stay, and not where they are; notes and
  // warnings that hold a name are replaced.
  TrialSet of(TrialSet trials) const;
  // The text, or where it holds a name or a path, a sentence that says so.
  std::string without_names(const std::string& text) const;

 private:
  std::string key_;
  std::set<std::string, std::less<>> names_;
};

}  // namespace facebench
