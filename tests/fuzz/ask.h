#pragma once

#include <stdexcept>

#include "facebench/core/error.h"

// Asks something of what was read, which may be refused.
template <class Ask>
void ask(Ask&& what) {
  try {
    what();
  } catch (const facebench::Error&) {
  }
}

// The same where the question may be wrong use for such a value.
template <class Ask>
void ask_anything(Ask&& what) {
  try {
    ask(what);
  } catch (const std::logic_error&) {
  }
}
