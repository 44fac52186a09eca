#pragma once

#include <stdexcept>
#include <string>

namespace facebench {

template <class F>
std::string refusal(F&& f) {
  try {
    f();
  } catch (const std::invalid_argument& e) {
    return e.what();
  }
  return "";
}

}  // namespace facebench
