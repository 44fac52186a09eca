#pragma once

// For headers that declare options: what describe() needs (core/options.h) is for their sources.
namespace facebench {

template <class T>
class OptionsBuilder;
struct OptionsSchema;

}  // namespace facebench
