#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace facebench {

// TrainingOptions::freeze: what stays as it is of a network. A pattern covers the names that it is,
// or matches as file names are ("*" any characters, dots too; "?" one; "[12]" one of these), and
// everything below them: "layer1" covers "layer1.0.conv1.weight".
class FreezePatterns {
 public:
  explicit FreezePatterns(std::vector<std::string> patterns);

  bool empty() const { return patterns_.empty(); }
  bool covers(std::string_view name) const;
  // Throws std::invalid_argument for a pattern that covers none of these names of tensors: it says
  // which parts the network has.
  void check(std::span<const std::string> names) const;

 private:
  std::vector<std::string> patterns_;
};

}  // namespace facebench
