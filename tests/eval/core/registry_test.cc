#include "facebench/core/registry.h"

#include <gtest/gtest.h>

#include "facebench/core/error.h"
#include "facebench/core/isa.h"

namespace facebench {
namespace {

struct Entry {
  std::string name;
  std::string doc;
};

const Table<Entry> kTable("protocol",
                          {{"lfw", "pairs"}, {"ijba-quality", "lists"}, {"dfw", "masks"}});

}  // namespace

TEST(Registry, ClosestName) {
  const std::vector<std::string> known = kTable.names();
  EXPECT_EQ(closest_name("lwf", known), "lfw");  // two neighbours swapped: one slip
  EXPECT_EQ(closest_name("ijba-qualty", known), "ijba-quality");
  EXPECT_EQ(closest_name("LFW", known), "lfw");
  EXPECT_EQ(closest_name("dfw", known), "dfw");
  EXPECT_EQ(closest_name("megaface", known), "");
  EXPECT_EQ(closest_name("IJBA", known), "ijba-quality");  // typed half
  EXPECT_EQ(closest_name("mobilenet", std::vector<std::string>{"googlenet", "mobilefacenet"}),
            "mobilefacenet");  // letters left out rather than wrong
  const std::vector<std::string> recipes = {"small4.softmax", "small4.arcface",
                                            "resnet50.arcface2"};
  EXPECT_EQ(closest_name("arcface", recipes), "small4.arcface");  // a part of a name
  EXPECT_EQ(closest_name("face", recipes), "");
  EXPECT_EQ(closest_name("ij", known), "");
  EXPECT_EQ(closest_name("", known), "");
  EXPECT_EQ(closest_name(std::string(100000, 'x'), known), "");
  EXPECT_EQ(closest_name("x", {}), "");
}

TEST(Registry, Table) {
  EXPECT_EQ(kTable.at("lfw").doc, "pairs");
  EXPECT_EQ(kTable.find("none"), nullptr);
  EXPECT_EQ(kTable.names(), (std::vector<std::string>{"lfw", "ijba-quality", "dfw"}));
  try {
    kTable.at("lwf");
    FAIL();
  } catch (const std::invalid_argument& e) {
    EXPECT_STREQ(e.what(),
                 "unknown protocol 'lwf'; did you mean 'lfw'? (known: lfw, ijba-quality, dfw)");
  }
}

TEST(Error, Text) {
  EXPECT_EQ(at_line("f", 3), "f:3");
  EXPECT_EQ(at_byte("f", 3), "f: byte 3");
  try {
    fail("f:3", "is wrong", "Mend it");
    FAIL();
  } catch (const Error& e) {
    EXPECT_STREQ(e.what(), "f:3: is wrong. Mend it");
  }
}

// Bytes out of a file reach messages; they must not break a terminal or a Python string.
TEST(Error, IsPrintable) {
  try {
    fail("f", "got '\x1b[31m\xff caf\xC3\xA9'");
    FAIL();
  } catch (const Error& e) {
    EXPECT_STREQ(e.what(), "f: got '\\x1b[31m\\xff caf\xC3\xA9'");
  }
}

TEST(Isa, Names) {
  for (Isa isa : {Isa::plain, Isa::avx2, Isa::avx512, Isa::avx512bf16})
    EXPECT_EQ(parse_isa(isa_name(isa)), isa);
  EXPECT_THROW(parse_isa("avx521"), std::invalid_argument);
}

TEST(Isa, ForcedAndRestored) {
  const Isa before = active_isa();
  EXPECT_LE(before, supported_isa());
  force_isa(Isa::plain);
  EXPECT_EQ(active_isa(), Isa::plain);
  if (supported_isa() < Isa::avx512) {
    EXPECT_THROW(force_isa(Isa::avx512), std::invalid_argument);
    EXPECT_EQ(active_isa(), Isa::plain);
  }
  force_isa(before);
}

}  // namespace facebench
