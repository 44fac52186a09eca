#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "facebench/core/registry.h"

namespace facebench {

// A number as it was printed. "99.63 %" and "99.63" are percent (so is any number above 1),
// "0.9963" is a fraction; the point may be a comma. The digits are kept as a whole number: value =
// digits / scale.
struct PrintedNumber {
  std::string text;
  std::int64_t digits = 0;
  std::int64_t scale = 1;  // a power of ten; 10,000 for "99.63", 1000 for "0.996"
  double value() const { return static_cast<double>(digits) / static_cast<double>(scale); }
  // One of the last digit, as a fraction: 0.0001 for "99.63".
  double step() const { return 1 / static_cast<double>(scale); }
};
// Throws std::invalid_argument for anything else, for a rate outside [0, 1], and for more than
// eleven digits behind the point of the fraction.
PrintedNumber parse_printed(std::string_view text);

// A number with the spread that was printed behind it.
struct PrintedWithSpread {
  PrintedNumber value;
  std::optional<PrintedNumber> spread;
  // The spread in the other unit, where no percent sign says which: logs print percent with a
  // fraction behind it, "99.78333 +- 0.00279".
  std::optional<PrintedNumber> spread_in_other_unit;
};
// A number as papers and logs print it: what parse_printed() reads, alone or with a spread behind
// any of "+-", "+/-", "\u00B1" and "\\pm", or in parentheses: "99.78(28)" is 99.78 and 0.28,
// "99.78 (0.28)" too. A percent sign on either is one on both; "(99.78 +- 0.28) %", LaTeX's "$" and
// "\\%", and a name before a colon ("Accuracy-Flip: 0.99783+-0.00259") are read. Throws
// std::invalid_argument for anything else.
PrintedWithSpread parse_printed_with_spread(std::string_view text);

// What a printed spread over folds can be.
struct SpreadKind {
  std::string name;
  std::string doc;
  double (*divisor)(double folds);  // spread^2 = sum of squared deviations / divisor
};
const Table<SpreadKind>& spread_kinds();

// Counts of a number with which folds can have a printed spread.
struct CountsWithSpread {
  std::vector<std::int64_t> counts;
  // Whether every count was tried. Where that would take too long (wide spreads over many
  // comparisons), each sum of squares of the right parity and size counts as possible.
  bool exact = true;
};
// Of the counts k those that folds of equal size, `total` comparisons in all, can sum to while
// their rates have the printed spread, rounded to the nearest. Throws std::invalid_argument for
// fewer than two folds or folds that do not divide `total`.
CountsWithSpread counts_with_spread(const std::vector<std::int64_t>& counts, std::int64_t total,
                                    std::int64_t folds, const PrintedNumber& spread,
                                    const SpreadKind& kind);

}  // namespace facebench
