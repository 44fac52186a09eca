#pragma once

#include <gtest/gtest.h>

#include <filesystem>

#include "facebench/core/error.h"
#include "facebench/evaluation/spec.h"
#include "lists/tiny_lfw.h"

namespace facebench {

namespace fs = std::filesystem;

// The text of the exception that `body` throws, "" where it throws none.
template <class Exception, class Body>
inline std::string message_of(Body&& body) {
  try {
    body();
  } catch (const Exception& e) {
    return e.what();
  }
  return "";
}

#define EXPECT_HAS(text, part) EXPECT_NE((text).find(part), std::string::npos) << (text)

}  // namespace facebench
