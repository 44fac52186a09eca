#include "facebench/core/numbers.h"

#include <gtest/gtest.h>

#include <clocale>

#include "facebench/core/utf8.h"

namespace facebench {

TEST(Numbers, TheWholeTextOrNothing) {
  EXPECT_EQ(number_of("55.19"), 55.19);
  EXPECT_EQ(number_of("-1e-3"), -0.001);
  for (const char* text : {"", "1,5", " 1", "1 ", "+1", "0x10", "inf", "nan", "1e999", "1.5.1"})
    EXPECT_EQ(number_of(text), std::nullopt) << text;
  EXPECT_EQ(lower_ascii("A.JPG\xC3\x84I"), "a.jpg\xC3\x84i");
}

// The C library reads "55.19" as 55 there. Skipped where no such locale is installed.
TEST(Numbers, DoNotFollowTheLocale) {
  if (!std::setlocale(LC_ALL, "de_DE.UTF-8") && !std::setlocale(LC_ALL, "tr_TR.UTF-8"))
    GTEST_SKIP() << "no locale with a decimal comma";
  const auto number = number_of("55.19");
  const std::string lower = lower_ascii("PIXI");
  std::setlocale(LC_ALL, "C");
  EXPECT_EQ(number, 55.19);
  EXPECT_EQ(lower, "pixi");
}

TEST(Utf8, WhatATerminalObeysIsShown) {
  EXPECT_EQ(printable("a\x1b[2J\x7f"), "a\\x1b[2J\\x7f");
  EXPECT_EQ(printable("\xC2\x9B[2J"), "\\u009b[2J");
  EXPECT_EQ(printable("gpj\xE2\x80\xAE.exe"), "gpj\\u202e.exe");
  EXPECT_EQ(printable("\xEF\xBB\xBF\xC3\xA9\xF0\x9F\x98\x80\n\t"),
            "\\ufeff\xC3\xA9\xF0\x9F\x98\x80\n\t");
}

}  // namespace facebench
