#pragma once

namespace facebench {

// For headers that declare options: they have a member `describe`, which takes the builder and is
// defined in the source (core/options.h says how).
template <class T>
class OptionsBuilder;
// What describe() made.
struct OptionsSchema;

}  // namespace facebench
