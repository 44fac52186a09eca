#include "facebench/core/extension.h"

#include <gtest/gtest.h>

namespace facebench {
namespace {

TEST(WithoutExtension, ByHand) {
  for (const auto& [name, wanted] :
       std::initializer_list<std::pair<const char*, const char*>>{{"a/b.jpg", "a/b"},
                                                                  {"b.tar.gz", "b.tar"},
                                                                  {"b", "b"},
                                                                  {"a.b/c", "a.b/c"},
                                                                  {"a/.hidden", "a/.hidden"},
                                                                  {".hidden", ".hidden"},
                                                                  {".hidden.png", ".hidden"},
                                                                  {"b.", "b"},
                                                                  {"", ""}})
    EXPECT_EQ(without_extension(name), wanted) << name;
}

}  // namespace
}  // namespace facebench
