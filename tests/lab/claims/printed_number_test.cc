#include "facebench/claims/printed_number.h"

#include <gtest/gtest.h>

#include <cstdio>

namespace facebench {
namespace {

TEST(PrintedNumber, PercentAndFractions) {
  for (const char* text : {"99.63", "99.63%", " 99.63 % "}) {
    const PrintedNumber p = parse_printed(text);
    EXPECT_EQ(p.digits, 9963);
    EXPECT_EQ(p.scale, 10000);
  }
  EXPECT_EQ(parse_printed("0.9963").scale, 10000);
  EXPECT_EQ(parse_printed("0.9963").digits, 9963);
  EXPECT_EQ(parse_printed("0.5 %").value(), 0.005);
  EXPECT_EQ(parse_printed("0.5").value(), 0.5);
  EXPECT_EQ(parse_printed("1").value(), 1);
  EXPECT_EQ(parse_printed("100").value(), 1);
  EXPECT_EQ(parse_printed(".25").value(), 0.25);
  EXPECT_EQ(parse_printed("99,63 %").digits, 9963);
  EXPECT_EQ(parse_printed("0,9963").scale, 10000);
  EXPECT_EQ(parse_printed(",25").value(), 0.25);
  for (const char* text : {"", "%", ".", "-1", "1e-3", ",", "100,1", "99.6.3", "1.234,5", "99,6,3",
                           "nan", "0.1234567890123", "99999999999999999999"})
    EXPECT_THROW(parse_printed(text), std::invalid_argument) << text;
}

// Every form by hand: digits and scale of the number and of its spread.
TEST(PrintedNumber, AsPapersAndLogsPrintIt) {
  struct Form {
    const char* text;
    double value, step, spread, other;  // 0: none
  };
  const Form forms[] = {
      {"99.78", .9978, 1e-4, 0, 0},
      {"0.99783+-0.00259", .99783, 1e-5, .00259, .0000259},
      {"0.99783 +/- 0.00259", .99783, 1e-5, .00259, .0000259},
      {"0.9978\u00B10.0026", .9978, 1e-4, .0026, .000026},
      {"99.78333 +- 0.00279", .9978333, 1e-7, .0000279, .00279},
      {"99.78 \u00B1 0.28 %", .9978, 1e-4, .0028, 0},
      {"99.78 \u00B1 0.28", .9978, 1e-4, .0028, 0},
      {"99.78% \u00B1 0.28%", .9978, 1e-4, .0028, 0},
      {"99.78 % +- 0.28", .9978, 1e-4, .0028, 0},
      {"(99.78 \u00B1 0.28) %", .9978, 1e-4, .0028, 0},
      {"(99.78+-0.28)", .9978, 1e-4, .0028, 0},
      {"99.78(28)", .9978, 1e-4, .0028, 0},
      {"99.783(7) %", .99783, 1e-5, .00007, 0},
      {"0.9978(28)", .9978, 1e-4, .0028, 0},
      {"99.78 (0.28)", .9978, 1e-4, .0028, 0},
      {"99.78 (\u00B10.28)", .9978, 1e-4, .0028, 0},
      {"$99.78 \\pm 0.28$", .9978, 1e-4, .0028, 0},
      {"$99.78{\\pm}0.28$\\%", .9978, 1e-4, .0028, 0},
      {"99.78\\%", .9978, 1e-4, 0, 0},
      {"[lfw][12000]Accuracy-Flip: 0.99783+-0.00259", .99783, 1e-5, .00259, .0000259},
      {"accuracy: 99.78 %", .9978, 1e-4, 0, 0},
      {"99.8 \u00B1 .3", .998, 1e-3, .003, 0},
      {"99.78 \u00B1 1.2", .9978, 1e-4, .012, 0},
      {"99,78 %", .9978, 1e-4, 0, 0},
      {"99,78 \u00B1 0,28 %", .9978, 1e-4, .0028, 0},
      {"0,99783+-0,00259", .99783, 1e-5, .00259, .0000259},
      {"99,78(28)", .9978, 1e-4, .0028, 0},
      {"Genauigkeit: 99,78 (0,28)", .9978, 1e-4, .0028, 0},
  };
  for (const Form& form : forms) {
    const PrintedWithSpread p = parse_printed_with_spread(form.text);
    EXPECT_NEAR(p.value.value(), form.value, 1e-15) << form.text;
    EXPECT_NEAR(p.value.step(), form.step, 1e-15) << form.text;
    ASSERT_EQ(p.spread.has_value(), form.spread > 0) << form.text;
    if (p.spread) {
      EXPECT_NEAR(p.spread->value(), form.spread, 1e-15) << form.text;
    }
    ASSERT_EQ(p.spread_in_other_unit.has_value(), form.other > 0) << form.text;
    if (form.other > 0) {
      EXPECT_NEAR(p.spread_in_other_unit->value(), form.other, 1e-15) << form.text;
    }
  }
  for (const char* text :
       {"99.78+-", "+-0.3", "99.78 +- x", "99.78(", "99.78()", "99.78(3", "1e-3", "99,78 +- 0,2,1",
        "99.78 +- 0.2 +- 0.1", "99.78 +- -0.2", ":", "99.78 0.2"})
    EXPECT_THROW(parse_printed_with_spread(text), std::invalid_argument) << text;
}

}  // namespace
}  // namespace facebench
