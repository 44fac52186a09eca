#include "facebench/reports/explanation_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "facebench/reports/escape.h"
#include "facebench/reports/table.h"

namespace facebench {
namespace {

std::string kind_doc(const std::string& kind) {
  if (kind == "same") return "all numbers are the same";
  return difference_kinds().at(kind).doc;
}

std::string number_text(const ExplainedNumber& n, const std::optional<double>& value) {
  return value ? metric_text(n.key.metric, *value) : "none";
}

// Differences are of rates too: in points, with a sign.
std::string points(const ExplainedNumber& n, const std::optional<double>& difference) {
  if (!difference) return "";
  return (std::signbit(*difference) ? "" : "+") + metric_text(n.key.metric, *difference);
}

std::string pairing_text(const ExplainedNumber& n) {
  if (!n.paired) return "|";
  const PairedComparison& d = *n.paired;
  if (std::isnan(d.interval.low)) return "undefined |";
  return fmt::format("[{}, {}] | {}", points(n, d.interval.low), points(n, d.interval.high),
                     d.p_value > 0 ? fmt::format("{:.3g}", d.p_value) : "below 1e-12");
}

std::string evidence(const Difference& d) {
  if (d.a.empty() && d.b.empty()) return "";
  return fmt::format(": `{}` against `{}`", d.a, d.b);
}

std::string differences_text(const Explanation& e, bool matters) {
  std::string out;
  for (const Difference& d : e.differences)
    if (d.matters == matters)
      out += fmt::format("- {}: {}{}\n", d.kind, escape_markdown(d.what), evidence(d));
  return out;
}

std::string numbers_text(const Explanation& e) {
  const std::string a = escape_markdown(e.run[0]), b = escape_markdown(e.run[1]);
  const bool two_rules = e.convention[0] != e.convention[1] ||
                         std::ranges::any_of(e.numbers, [](const ExplainedNumber& n) {
                           return n.value[0][0] != n.value[0][1] || n.value[1][0] != n.value[1][1];
                         });
  std::string out = fmt::format("| rates in % | {} | {} |", a, b);
  if (two_rules) out += fmt::format(" {} by {}'s rules | {} by {}'s rules |", a, b, b, a);
  out += " difference |";
  if (two_rules) out += " of it scores | of it rules |";
  out += " interval | p | cause |\n|";
  for (auto columns = 7 + (two_rules ? 4 : 0); columns > 0; --columns) out += "---|";
  out += "\n";
  for (const ExplainedNumber& n : e.numbers) {
    ReportTable::Row row;
    row.metric = n.key.metric;
    row.row = n.key.row;
    row.column = n.key.column;
    out +=
        fmt::format("| {}: {} | {} | {} |", escape_markdown(n.track),
                    escape_markdown(row_title(row)), number_text(n, n.a()), number_text(n, n.b()));
    if (two_rules)
      out +=
          fmt::format(" {} | {} |", number_text(n, n.value[0][1]), number_text(n, n.value[1][0]));
    std::optional<double> difference;
    if (n.a() && n.b()) difference = *n.a() - *n.b();
    out += fmt::format(" {} |", points(n, difference));
    if (two_rules)
      out += fmt::format(" {} | {} |", points(n, n.by_scores()), points(n, n.by_convention()));
    out += fmt::format(" {} | {} |\n", pairing_text(n), n.cause);
  }
  return out;
}

Json number_or_null(const std::optional<double>& value) {
  return value && std::isfinite(*value) ? Json(*value) : Json(nullptr);
}

Json paired_json(const std::optional<PairedComparison>& paired) {
  if (!paired) return nullptr;
  const Interval& i = paired->interval;
  return {{"value", number_or_null(paired->value)},
          {"interval", std::isnan(i.low) ? Json(nullptr) : Json({i.low, i.high})},
          {"level", i.level},
          {"method", i.method},
          {"replicates", i.replicates},
          {"p_value", number_or_null(paired->p_value)}};
}

}  // namespace

std::string explanation_text(const Explanation& e) {
  std::string out = fmt::format("# {} against {}\n\n**{}**: {}.\n", escape_markdown(e.run[0]),
                                escape_markdown(e.run[1]), e.cause, kind_doc(e.cause));
  const auto first = std::ranges::find_if(
      e.differences, [&](const Difference& d) { return d.matters && d.kind == e.cause; });
  if (first != e.differences.end())
    out += fmt::format("First: {}{}.\n", escape_markdown(first->what), evidence(*first));
  const auto tests = std::ranges::count_if(
      e.numbers, [](const ExplainedNumber& n) { return n.paired.has_value(); });
  if (const std::string text = differences_text(e, true); !text.empty())
    out += "\n## What differs\n\n" + text;
  if (const std::string text = differences_text(e, false); !text.empty())
    out += "\n## What differs without changing a number\n\n" + text;
  out += "\n## Numbers\n\n" + numbers_text(e);
  if (tests > 0)
    out += fmt::format(
        "\nInterval and p: of the difference on {} common comparisons under {}'s rules, both runs "
        "on the same resampled people. Where the interval contains 0, the difference cannot be "
        "told "
        "from chance. With many numbers some lie outside their intervals by chance, so the heading "
        "counts a difference only where p times the number of comparisons made, {}, is below "
        "{:.4g} "
        "(Bonferroni).\n",
        e.common, escape_markdown(e.run[0]), tests, 1 - e.level);
  return out;
}

Json explanation_json(const Explanation& e) {
  Json j = {{"cause", e.cause},
            {"runs", e.run},
            {"protocols", e.protocol},
            {"conventions", e.convention},
            {"comparisons", {{"common", e.common}, {"only_a", e.only_a}, {"only_b", e.only_b}}},
            {"differences", Json::array()},
            {"numbers", Json::array()}};
  for (const Difference& d : e.differences)
    j["differences"].push_back(
        {{"kind", d.kind}, {"matters", d.matters}, {"what", d.what}, {"a", d.a}, {"b", d.b}});
  for (const ExplainedNumber& n : e.numbers) {
    Json number = {{"track", n.track},
                   {"metric", n.key.metric},
                   {"a", number_or_null(n.a())},
                   {"b", number_or_null(n.b())},
                   {"a_by_b", number_or_null(n.value[0][1])},
                   {"b_by_a", number_or_null(n.value[1][0])},
                   {"by_scores", number_or_null(n.by_scores())},
                   {"by_convention", number_or_null(n.by_convention())},
                   {"paired", paired_json(n.paired)},
                   {"cause", n.cause}};
    if (!n.key.row.empty()) {
      number["row"] = n.key.row;
      number["column"] = n.key.column;
    }
    j["numbers"].push_back(std::move(number));
  }
  return j;
}

}  // namespace facebench
