#include "facebench/claims/claim.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>

#include "facebench/core/numbers.h"
#include "facebench/core/options.h"
#include "facebench/metrics/interval.h"

namespace facebench {
namespace {

constexpr std::int64_t kMaxProduct = std::int64_t{1} << 61;
// A rate such as 0.001 is not an exact binary number: 0.001 * 10,000 must count as 10.
constexpr double kSlack = 1e-12;
constexpr std::string_view kTar = "tar@far=";

[[noreturn]] void refuse(std::string_view text, std::string_view why) {
  throw std::invalid_argument(fmt::format("'{}' {}", text, why));
}

// a / b towards minus infinity, b > 0.
std::int64_t floor_div(std::int64_t a, std::int64_t b) {
  return a / b - (a % b != 0 && a < 0 ? 1 : 0);
}
std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return -floor_div(-a, b); }

CountRange within(std::int64_t first, std::int64_t last, std::int64_t total) {
  return {std::max<std::int64_t>(first, 0), std::min(last, total)};
}

double far_of(std::string_view metric) {
  const std::optional<double> far = number_of(metric.substr(kTar.size()));
  if (!far || !(*far > 0 && *far < 1))
    refuse(metric, "names no false accept rate in (0, 1), as in tar@far=0.001");
  return *far;
}

const ExpectedCounts& counts_of(const ProtocolSpec& spec, const std::optional<std::string>& track) {
  std::vector<std::string> names;
  for (const ExpectedCounts& e : spec.expected) {
    if (e.track == track || (!track && spec.expected.size() == 1)) return e;
    names.push_back(e.track);
  }
  if (names.empty())
    throw std::invalid_argument(
        fmt::format("protocol {} does not state what its lists hold; give the counts", spec.id));
  if (!track)
    throw std::invalid_argument(fmt::format("protocol {} has several tracks; name one: {}", spec.id,
                                            fmt::join(names, ", ")));
  throw std::invalid_argument(unknown_name_message("track", *track, names));
}

std::int64_t given_or(std::optional<std::int64_t> given, std::int64_t stated) {
  return given.value_or(std::max<std::int64_t>(stated, 0));
}

FarSupport far_support(double far, std::int64_t impostor) {
  const auto impostors_for = [&](double false_accepts) {
    return static_cast<std::int64_t>(std::ceil(false_accepts / far * (1 - kSlack)));
  };
  FarSupport s;
  s.far = far;
  s.expected_false_accepts = far * static_cast<double>(impostor);
  s.reliable = s.expected_false_accepts >= 10 * (1 - kSlack);
  s.achievable_far =
      std::floor(s.expected_false_accepts * (1 + kSlack)) / static_cast<double>(impostor);
  s.impostors_for_one = impostors_for(1);
  s.impostors_for_ten = impostors_for(10);
  return s;
}

// The counts that the number can be: by the first rounding that allows any, else its neighbours.
std::vector<std::int64_t> counts_behind(const Claim& c) {
  CountRange range{c.below, c.above};
  for (const Claim::Possible& p : c.possible)
    if (!p.counts.empty()) {
      range = p.counts;
      break;
    }
  std::vector<std::int64_t> counts(static_cast<std::size_t>(range.size()));
  std::iota(counts.begin(), counts.end(), range.first);
  return counts;
}

Claim::Spread spread_of(const PrintedNumber& printed, const Claim& c) {
  Claim::Spread spread{printed, {}};
  if (c.folds < 2) return spread;
  const std::vector<std::int64_t> counts = counts_behind(c);
  for (const SpreadKind& kind : spread_kinds().entries()) {
    CountsWithSpread found = counts_with_spread(counts, c.total, c.folds, printed, kind);
    spread.kinds.push_back({kind.name, std::move(found.counts), found.exact});
  }
  return spread;
}

bool fits(const Claim::Spread& spread) {
  return std::ranges::any_of(spread.kinds, [](const auto& kind) { return !kind.counts.empty(); });
}

}  // namespace

void ClaimOptions::describe(OptionsBuilder<ClaimOptions>& o) {
  o.name("ClaimOptions", "What a printed number is about.");
  o.field("metric", &ClaimOptions::metric, "what the number is: accuracy, far, tar@far=F or rate");
  o.field("track", &ClaimOptions::track, "track of the protocol; default: its only one");
  o.field("genuine", &ClaimOptions::genuine, "genuine comparisons; default: the protocol's", 0,
          1e12);
  o.field("impostor", &ClaimOptions::impostor, "impostor comparisons; default: the protocol's", 0,
          1e12);
  o.field("folds", &ClaimOptions::folds, "folds of equal size; default: the protocol's", 0, 1e6);
  o.field("level", &ClaimOptions::level, "level at which two claims are told apart", 0.5, 0.9999);
  o.field("power", &ClaimOptions::power, "probability of seeing the difference", 0.5, 0.9999);
}

const Table<Rounding>& roundings() {
  static const Table<Rounding> table("rounding",
                                     {{"nearest", "to the nearest, half way either way"},
                                      {"down", "digits cut off"},
                                      {"up", "raised to the next"}});
  return table;
}

CountRange counts_printed_as(const PrintedNumber& p, std::int64_t total,
                             std::string_view rounding) {
  roundings().at(rounding);
  if (total < 1) throw std::invalid_argument(fmt::format("a rate out of {} things", total));
  if (total > kMaxProduct / p.scale)
    throw std::invalid_argument(
        fmt::format("{} out of {} has more digits than can be tested", p.text, total));
  const std::int64_t d = p.digits, s = p.scale;
  if (rounding == "down")  // d / s <= k / total < (d + 1) / s
    return within(ceil_div(d * total, s), ceil_div((d + 1) * total, s) - 1, total);
  if (rounding == "up")  // (d - 1) / s < k / total <= d / s
    return within(floor_div((d - 1) * total, s) + 1, floor_div(d * total, s), total);
  // |k / total - d / s| <= 1 / (2 s)
  return within(ceil_div((2 * d - 1) * total, 2 * s), floor_div((2 * d + 1) * total, 2 * s), total);
}

SampleSize sample_size(double a, double b, double people_per_comparison, double level,
                       double power) {
  if (!(a >= 0 && a <= 1 && b >= 0 && b <= 1) || a == b)
    throw std::invalid_argument(fmt::format("{} and {} are not two different rates", a, b));
  const double z = normal_quantile((1 + level) / 2), zb = normal_quantile(power);
  const double delta = std::abs(a - b), mean = (a + b) / 2;
  const auto count = [&](double under_null, double under_difference) {
    const double root = z * std::sqrt(under_null) + zb * std::sqrt(under_difference);
    return static_cast<std::int64_t>(std::ceil(root * root / (delta * delta)));
  };
  // Of comparisons that one system has right and the other wrong, the share `discordant`.
  const auto paired = [&](double discordant) {
    return count(discordant, discordant - delta * delta);
  };
  SampleSize n;
  n.unpaired = count(2 * mean * (1 - mean), a * (1 - a) + b * (1 - b));
  n.paired_nested = paired(delta);
  n.paired_independent = paired(a * (1 - b) + b * (1 - a));
  n.identities = static_cast<std::int64_t>(
      std::ceil(people_per_comparison * static_cast<double>(n.paired_independent)));
  return n;
}

bool Claim::exists(std::string_view rounding) const {
  roundings().at(rounding);
  return std::ranges::any_of(
      possible, [&](const Possible& p) { return p.rounding == rounding && !p.counts.empty(); });
}

Claim check_claim(std::string_view printed, const ProtocolSpec* spec, const ClaimOptions& options,
                  std::string_view against) {
  check_options(options);
  Claim c;
  const PrintedWithSpread read = parse_printed_with_spread(printed);
  c.printed = read.value;
  c.metric = options.metric;
  std::int64_t genuine = options.genuine.value_or(0), impostor = options.impostor.value_or(0);
  MeasureAddress measures;
  if (spec) {
    c.protocol = spec->id;
    measures.protocol = spec->id;
    measures.metric = c.metric;
    const ExpectedCounts& e = counts_of(*spec, options.track);
    measures.track = e.track;
    genuine = given_or(options.genuine, e.of("genuine"));
    impostor = given_or(options.impostor, e.of("impostor"));
    c.folds = given_or(options.folds, e.of("folds"));
  } else {
    c.folds = options.folds.value_or(0);
  }
  double people = 1;
  if (c.metric == "accuracy") {
    c.total = genuine + impostor;
    people = c.total > 0
                 ? static_cast<double>(genuine + 2 * impostor) / static_cast<double>(c.total)
                 : 1;
  } else if (c.metric == "far") {
    c.total = impostor;
    people = 2;
  } else if (c.metric == "rate" || c.metric.starts_with(kTar)) {
    c.total = genuine;
  } else {
    throw std::invalid_argument(unknown_name_message(
        "metric of a claim", c.metric,
        std::vector<std::string>{"accuracy", "far", std::string(kTar) + "0.001", "rate"}));
  }
  if (c.total < 1)
    throw std::invalid_argument(
        "what is the number counted out of? Name a protocol, or the numbers of genuine and "
        "impostor comparisons");
  if (c.folds > 1 && c.total % c.folds != 0)
    throw std::invalid_argument(
        fmt::format("{} folds of equal size cannot hold {} comparisons", c.folds, c.total));

  for (const Rounding& r : roundings().entries())
    c.possible.push_back({r.name, counts_printed_as(c.printed, c.total, r.name)});
  c.below = floor_div(c.printed.digits * c.total, c.printed.scale);
  c.above = std::min(ceil_div(c.printed.digits * c.total, c.printed.scale), c.total);
  if (!c.exists())
    for (std::int64_t m = 1; m <= c.total / 10 && c.left_out == 0; ++m)
      if (!counts_printed_as(c.printed, c.total - m, "nearest").empty()) c.left_out = m;
  if (read.spread) {
    c.spread = spread_of(*read.spread, c);
    if (read.spread_in_other_unit && !fits(*c.spread))
      if (Claim::Spread other = spread_of(*read.spread_in_other_unit, c); fits(other))
        c.spread = std::move(other);
  }
  if (c.metric.starts_with(kTar)) {
    const double far = far_of(c.metric);
    if (impostor > 0) c.far = far_support(far, impostor);
  }
  if (!measures.empty()) c.sources = claim_sources(c.printed.value(), c.printed.step(), measures);
  if (!against.empty()) {
    c.against = parse_printed_with_spread(against).value;
    if (!measures.empty())
      c.against_sources = claim_sources(c.against->value(), c.against->step(), measures);
    if (c.against->value() != c.printed.value())
      c.apart =
          sample_size(c.printed.value(), c.against->value(), people, options.level, options.power);
    c.level = options.level;
    c.power = options.power;
  }
  return c;
}

Json claim_json(const Claim& c) {
  Json j = {{"printed", c.printed.text},
            {"value", c.printed.value()},
            {"step", c.printed.step()},
            {"metric", c.metric},
            {"protocol", c.protocol.empty() ? Json(nullptr) : Json(c.protocol)},
            {"total", c.total},
            {"folds", c.folds},
            {"exists", c.exists()},
            {"below", c.below},
            {"above", c.above},
            {"left_out", c.left_out > 0 ? Json(c.left_out) : Json(nullptr)},
            {"far", nullptr},
            {"spread", nullptr},
            {"printed_in", claim_sources_json(c.sources)},
            {"against", nullptr}};
  for (const Claim::Possible& p : c.possible)
    j["possible"][p.rounding] =
        p.counts.empty() ? Json(nullptr) : Json({p.counts.first, p.counts.last});
  if (c.spread) {
    Json kinds = Json::object();
    Json untried = Json::array();
    for (const Claim::Spread::Kind& kind : c.spread->kinds) {
      kinds[kind.name] = kind.counts;
      if (!kind.exact) untried.push_back(kind.name);
    }
    j["spread"] = {{"value", c.spread->printed.value()},
                   {"step", c.spread->printed.step()},
                   {"kinds", std::move(kinds)},
                   {"untried", std::move(untried)}};
  }
  if (c.far)
    j["far"] = {{"far_target", c.far->far},
                {"expected_false_accepts", c.far->expected_false_accepts},
                {"far_achievable", c.far->achievable_far},
                {"impostors_for_one", c.far->impostors_for_one},
                {"impostors_for_ten", c.far->impostors_for_ten},
                {"reliable", c.far->reliable}};
  if (c.against) {
    j["against"] = {{"printed", c.against->text},
                    {"value", c.against->value()},
                    {"level", c.level},
                    {"power", c.power},
                    {"printed_in", claim_sources_json(c.against_sources)},
                    {"pairs", source_pairs_json(source_pairs(c.sources, c.against_sources))}};
    if (c.apart)
      j["against"].update({{"unpaired", c.apart->unpaired},
                           {"paired_nested", c.apart->paired_nested},
                           {"paired_independent", c.apart->paired_independent},
                           {"identities", c.apart->identities}});
  }
  return j;
}

}  // namespace facebench
