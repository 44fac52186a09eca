#include "facebench/core/extension.h"

namespace facebench {

std::string without_extension(std::string_view name) {
  const std::size_t slash = name.rfind('/');
  const std::size_t start = slash == std::string_view::npos ? 0 : slash + 1;
  const std::size_t dot = name.rfind('.');
  return std::string(dot == std::string_view::npos || dot <= start ? name : name.substr(0, dot));
}

}  // namespace facebench
