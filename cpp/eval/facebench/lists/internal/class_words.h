#pragma once

#include <optional>
#include <string_view>

namespace facebench {

// Which comparisons a name speaks of: 1 genuine, 0 impostor; nothing where none of its words says
// it, or words say both. "lfw_genuine", "scores-NonMated", "neg2", "not_same".
std::optional<int> class_of_name(std::string_view name);

// The class that a cell of labels stands for: 1 and 0, 1 and -1 (also as 1.0), true and false, yes
// and no, or one of the words above.
std::optional<int> class_of_label(std::string_view cell);

}  // namespace facebench
