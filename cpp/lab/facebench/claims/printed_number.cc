#include "facebench/claims/printed_number.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "facebench/io/text.h"

namespace facebench {
namespace {

constexpr std::size_t kMaxDigits = 11;
constexpr std::int64_t kMostDigits = std::int64_t{1} << 57;
constexpr double kMostSteps = 2e9;  // of 64 sums of squares each: some seconds
constexpr double kExactIntegers = 9e15;
constexpr std::string_view kForms = "is not a printed rate such as 99.63, 99.63 % or 0.9963";

[[noreturn]] void refuse_number(std::string_view text, std::string_view why) {
  throw std::invalid_argument(fmt::format("'{}' {}", text, why));
}

// Digits with at most one point or comma among them, as a whole number and a power of ten.
struct Decimal {
  std::int64_t digits = 0, scale = 1;
  std::size_t decimals = 0;
};
Decimal parse_decimal(std::string_view number, std::string_view text) {
  Decimal d;
  bool point = false, any = false;
  for (const char c : number) {
    if (c == '.' || c == ',') {
      if (point)
        refuse_number(text, "has more than one decimal point or comma. Write it with one point");
      point = true;
      continue;
    }
    if (c < '0' || c > '9') refuse_number(text, kForms);
    if (d.decimals > kMaxDigits || d.digits > kMostDigits)
      refuse_number(text, "has too many digits");
    d.digits = 10 * d.digits + (c - '0');
    any = true;
    if (point) {
      ++d.decimals;
      d.scale *= 10;
    }
  }
  if (!any) refuse_number(text, kForms);
  return d;
}

PrintedNumber printed_number(Decimal d, bool percent, std::string_view text) {
  if (percent) {
    d.scale *= 100;
    d.decimals += 2;
  }
  if (d.digits > d.scale) refuse_number(text, "is more than 100 %");
  if (d.decimals > kMaxDigits) refuse_number(text, "has too many digits");
  return {std::string(trim(text)), d.digits, d.scale};
}

void replace_all(std::string& text, std::string_view what, std::string_view by) {
  for (std::size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += by.size())
    text.replace(at, what.size(), by);
}

// Takes the sign away; whether there was one.
bool take_percent(std::string& number) {
  number = trim(number);
  if (!number.ends_with('%')) return false;
  number = trim(std::string_view(number).substr(0, number.size() - 1));
  return true;
}

// Sums of squares 0..last, one bit each.
using Squares = std::vector<std::uint64_t>;

// to |= from << by.
void add_shifted(const Squares& from, std::size_t by, Squares& to) {
  const std::size_t words = by / 64, bits = by % 64;
  for (std::size_t i = words; i < to.size(); ++i) {
    to[i] |= from[i - words] << bits;
    if (bits > 0 && i > words) to[i] |= from[i - words - 1] >> (64 - bits);
  }
}

// Which sums of squares up to `last` whole numbers in [lowest, highest] can have, by their sum.
struct SquaresBySum {
  std::int64_t folds, lowest, highest, last;
  // No number and no sum is farther from 0.
  std::int64_t most = root_of(static_cast<double>(last));
  std::int64_t widest = root_of(static_cast<double>(folds) * static_cast<double>(last));

  static std::int64_t root_of(double square) {
    return static_cast<std::int64_t>(std::sqrt(square));
  }
  std::int64_t from() const { return std::max(-most, lowest); }
  std::int64_t to() const { return std::min(most, highest); }
  double steps() const {
    return static_cast<double>(folds) * (2 * static_cast<double>(widest) + 1) *
           static_cast<double>(to() - from() + 1) * (static_cast<double>(last) / 64 + 1);
  }
  // Whether `folds` such numbers have this sum, and their squares a sum of `first` or more.
  bool have(std::int64_t sum, std::int64_t first) const {
    if (std::abs(sum) > widest) return false;
    const auto place = [&](std::int64_t s) { return static_cast<std::size_t>(s + widest); };
    const Squares none(static_cast<std::size_t>(last / 64) + 1, 0);
    std::vector<Squares> now(place(widest) + 1, none);
    now[place(0)][0] = 1;
    for (std::int64_t fold = 0; fold < folds; ++fold) {
      std::vector<Squares> next(now.size(), none);
      for (std::int64_t s = -widest; s <= widest; ++s) {
        if (now[place(s)] == none) continue;
        for (std::int64_t d = std::max(from(), -widest - s); d <= std::min(to(), widest - s); ++d)
          add_shifted(now[place(s)], static_cast<std::size_t>(d * d), next[place(s + d)]);
      }
      now = std::move(next);
    }
    const Squares& reached = now[place(sum)];
    for (std::int64_t q = std::max<std::int64_t>(first, 0); q <= last; ++q)
      if (reached[static_cast<std::size_t>(q / 64)] >> (q % 64) & 1) return true;
    return false;
  }
};

}  // namespace

PrintedNumber parse_printed(std::string_view text) {
  std::string number(text);
  const bool percent = take_percent(number);
  const Decimal d = parse_decimal(number, text);
  return printed_number(d, percent || d.digits > d.scale, text);
}

PrintedWithSpread parse_printed_with_spread(std::string_view text) {
  std::string plain(text.substr(text.rfind(':') + 1));  // npos + 1 is 0
  for (const std::string_view sign : {"+/-", "+-", "\u00B1"}) replace_all(plain, sign, "\\pm");
  replace_all(plain, "\\%", "%");
  replace_all(plain, "$", "");
  replace_all(plain, "{\\pm}", "\\pm");
  plain = trim(plain);
  bool percent = take_percent(plain);
  if (plain.starts_with('(') && plain.ends_with(')')) plain = plain.substr(1, plain.size() - 2);
  std::string value = plain, spread;
  bool last_digits = false;
  if (const std::size_t at = plain.find("\\pm");
      at != std::string::npos && at > 0 && trim(std::string_view(plain).substr(0, at)) != "(") {
    value = plain.substr(0, at);
    spread = plain.substr(at + 3);
    if (trim(value).ends_with('(') && trim(spread).ends_with(')')) {  // 99.78 (+- 0.28)
      value = value.substr(0, value.rfind('('));
      spread = spread.substr(0, spread.rfind(')'));
    }
  } else if (const std::size_t open = plain.find('(');
             open != std::string::npos && plain.ends_with(')')) {
    value = plain.substr(0, open);
    spread = plain.substr(open + 1, plain.size() - open - 2);
    last_digits = spread.find_first_not_of("0123456789") == std::string::npos;
  }
  const bool has_spread = value.size() != plain.size();
  percent |= take_percent(value);
  percent |= take_percent(spread);

  const Decimal v = parse_decimal(value, text);
  const bool value_percent = percent || v.digits > v.scale;
  PrintedWithSpread result{printed_number(v, value_percent, text), {}, {}};
  if (!has_spread) return result;
  Decimal s = parse_decimal(spread, text);
  if (last_digits) {
    s.scale = v.scale;
    s.decimals = v.decimals;
  }
  result.spread = printed_number(s, value_percent, text);
  // A fraction behind percent has the digits of a log; "99.47 +- 0.01" is percent and percent.
  constexpr int kOfALog = 4;
  if (!percent && !last_digits &&
      (!value_percent || (s.digits <= s.scale && s.decimals >= kOfALog)))
    result.spread_in_other_unit = printed_number(s, !value_percent, text);
  return result;
}

const Table<SpreadKind>& spread_kinds() {
  static const Table<SpreadKind> table(
      "spread of folds",
      {{"standard_deviation", "of the folds themselves (n)", [](double n) { return n; }},
       {"sample_standard_deviation", "estimated (n - 1)", [](double n) { return n - 1; }},
       {"standard_error", "of the mean, from n - 1", [](double n) { return n * (n - 1); }},
       {"standard_error_of_n", "of the mean, from n", [](double n) { return n * n; }}});
  return table;
}

CountsWithSpread counts_with_spread(const std::vector<std::int64_t>& counts, std::int64_t total,
                                    std::int64_t folds, const PrintedNumber& spread,
                                    const SpreadKind& kind) {
  if (folds < 2 || total % folds != 0)
    throw std::invalid_argument(
        fmt::format("{} comparisons in {} folds of equal size have no spread", total, folds));
  const std::int64_t size = total / folds;
  const auto n = static_cast<double>(folds);
  // The sums of squared deviations, in comparisons, that are printed so.
  const auto squares = [&](double half_steps) {
    const double rate = std::max(0.0, spread.value() + half_steps * spread.step() / 2);
    return std::pow(rate * static_cast<double>(size), 2) * kind.divisor(n);
  };
  const double least = squares(-1), most = squares(1), slack = 1e-9 * (1 + most);
  CountsWithSpread fitting;
  for (const std::int64_t k : counts) {
    const std::int64_t few = std::min(k, total - k);  // the folds of the rarer outcome
    const std::int64_t base = few / folds, rest = few % folds;
    // Deviations from `base`: their squares are the sum about the mean and rest^2 / folds.
    const double shift = static_cast<double>(rest * rest) / n;
    // As few folds as can be hold them all: no sum is larger.
    const auto square = [](std::int64_t d) {
      return static_cast<double>(d) * static_cast<double>(d);
    };
    const std::int64_t full = few / size;
    const double largest = static_cast<double>(full) * square(size - base) +
                           square(few % size - base) +
                           static_cast<double>(folds - full - 1) * square(base);
    const double highest = std::min(most + shift + slack, largest);
    if (highest > kExactIntegers) {
      fitting.exact = false;
      if (least + shift <= highest) fitting.counts.push_back(k);
      continue;
    }
    auto first = static_cast<std::int64_t>(std::ceil(least + shift - slack));
    const auto last = static_cast<std::int64_t>(std::floor(highest));
    if ((first - rest) % 2 != 0) ++first;  // a square is odd where its root is
    if (first > last) continue;
    const SquaresBySum squares_of{folds, -base, size - base, last};
    if (squares_of.steps() * static_cast<double>(counts.size()) > kMostSteps)
      fitting.exact = false;
    else if (!squares_of.have(rest, first))
      continue;
    fitting.counts.push_back(k);
  }
  return fitting;
}

}  // namespace facebench
