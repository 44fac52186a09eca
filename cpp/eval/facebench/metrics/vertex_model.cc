#include "facebench/metrics/vertex_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <stdexcept>
#include <utility>

#include "facebench/metrics/internal/measures.h"
#include "facebench/metrics/interval.h"

namespace facebench {
namespace {

// The quantiles of a test's level and power together.
double detectable(double level, double power) {
  return normal_quantile((1 + level) / 2) + normal_quantile(power);
}

}  // namespace

VertexModel fit_vertex_model(std::span<const std::uint8_t> wrong,
                             std::span<const std::int32_t> first,
                             std::span<const std::int32_t> second) {
  const std::size_t n = wrong.size();
  if (first.size() != n || second.size() != n)
    throw std::invalid_argument("each comparison needs two people");
  if (n == 0) throw std::invalid_argument("there is no comparison");
  VertexModel m;
  m.comparisons = static_cast<std::int64_t>(n);
  std::int64_t errors = 0;
  for (const std::uint8_t w : wrong) errors += w != 0;
  m.rate = ratio(errors, m.comparisons);

  // Of each person, and of each pair of people: the comparisons, and their deviations' sum and sum
  // of squares. Comparisons of the same two people share both, and count once.
  struct Sums {
    double count = 0, sum = 0, squares = 0;
    double pairs() const { return count * (count - 1); }
    double products() const { return sum * sum - squares; }
  };
  std::map<std::int32_t, Sums> of_person;
  std::map<std::pair<std::int32_t, std::int32_t>, Sums> of_two;
  for (std::size_t i = 0; i < n; ++i) {
    const double deviation = (wrong[i] ? 1 : 0) - m.rate;
    const auto add = [&](Sums& s) {
      s.count += 1;
      s.sum += deviation;
      s.squares += deviation * deviation;
    };
    add(of_person[first[i]]);
    if (second[i] == first[i]) continue;
    add(of_person[second[i]]);
    add(of_two[std::minmax(first[i], second[i])]);
  }
  m.people = static_cast<std::int64_t>(of_person.size());
  double products = 0;
  // For each comparison those that share a person with it; the sum of the squares of that.
  double neighbours = 0;
  for (std::size_t i = 0; i < n; ++i) {
    double mine = of_person[first[i]].count - 1;
    if (second[i] != first[i])
      mine += of_person[second[i]].count - of_two[std::minmax(first[i], second[i])].count;
    neighbours += mine * mine;
  }
  for (const auto& [person, s] : of_person) {
    m.shared += s.pairs();
    products += s.products();
  }
  for (const auto& [two, s] : of_two) {
    m.shared -= s.pairs();
    products -= s.products();
  }
  const double variance = m.rate * (1 - m.rate);
  const auto count = static_cast<double>(n);
  if (m.shared > 0 && variance > 0) {
    // Deviations from the mean of the same comparisons: with few people their products, and the
    // variance, are smaller than those from the true rate. Both expectations solved for r.
    const double raw = products / m.shared / variance;
    const double unbiased =
        1 - 2 * neighbours / m.shared / count + (1 + raw) * m.shared / (count * count);
    m.correlation =
        unbiased > 0 ? std::clamp((raw * (1 - 1 / count) + 1 / count) / unbiased, 0.0, 1.0) : 1.0;
  }
  m.effective = count / (1 + m.correlation * m.shared / count);
  return m;
}

double comparisons_to_bound(double rate, double level) {
  return std::log1p(-level) / std::log1p(-rate);
}

double bound_without_errors(double comparisons, double level) {
  return -std::expm1(std::log1p(-level) / comparisons);
}

double smallest_difference(double rate, double comparisons, double likeness, double level,
                           double power) {
  return detectable(level, power) * std::sqrt(2 * rate * (1 - rate) * (1 - likeness) / comparisons);
}

double comparisons_for_difference(double rate, double difference, double likeness, double level,
                                  double power) {
  const double part = detectable(level, power) / difference;
  return 2 * rate * (1 - rate) * (1 - likeness) * part * part;
}

// P (P - 1) / 2 comparisons, each of which shares a person with 2 (P - 2) others.
double people_for_all_pairs(double effective, double correlation) {
  if (!(effective >= 1)) throw std::invalid_argument("fewer than one comparison");
  if (!std::isfinite(effective)) throw std::invalid_argument("infinitely many comparisons");
  if (!(correlation >= 0 && correlation <= 1))
    throw std::invalid_argument(
        fmt::format("the correlation is {}; it must lie in [0, 1]", correlation));
  // In this order the product does not overflow where the result does not.
  const auto counts = [&](double p) { return p / 2 * ((p - 1) / (1 + correlation * 2 * (p - 2))); };
  if (counts(2) >= effective) return 2;
  double low = 2, high = 4;  // whole numbers: too few people, and enough
  while (counts(high) < effective) {
    low = high;
    high *= 2;
  }
  while (true) {  // beyond 2^53 people there is no whole number left between two neighbours
    const double middle = std::floor(low + (high - low) / 2);
    if (middle <= low || middle >= high) return high;
    (counts(middle) < effective ? low : high) = middle;
  }
}

}  // namespace facebench
