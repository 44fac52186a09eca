#include "facebench/trials/blemishes.h"

#include <fmt/format.h>

#include <algorithm>

#include "facebench/core/error.h"

namespace facebench {

const Table<BlemishRule>& blemish_rules() {
  static const Table<BlemishRule> table(
      "kind of blemish",
      {{"repeated_pair", "pairs that are in the list already, in this order or the other",
        "every row counts"},
       {"self_comparison", "pairs of an image or a template with itself",
        "compared and counted as listed; the score is 1"},
       {"label_conflict", "labels that contradict who the names say is on the images",
        "the label counts; more than a tenth of the pairs is an error"},
       {"repeated_in_template", "images that a template holds more than once",
        "each row counts in the template's embedding"},
       {"repeated_name", "names that a list of images or people has more than once",
        "the first counts; every row and column of a mask counts"},
       {"mask_conflict", "mask entries for impostors whom genuine entries connect",
        "the entry counts; more than a tenth of a track's impostors is an error"},
       {"mask_asymmetry", "mask entries that differ from their mirror image",
        "the one above the diagonal counts"},
       {"numbering", "images whose numbers do not follow one another", "the number counts"},
       {"column_order", "files whose columns are in another order than the official one",
        "columns are read by their names"},
       {"byte_order_mark", "byte order marks, in front of a file or a name", "passed over"},
       {"crlf", "files with CRLF line ends", "read as LF"},
       {"blanks", "blanks around a name or at the end of a line, and blank lines", "passed over"},
       {"latin_1", "lines that are not UTF-8", "read as Latin-1"},
       {"header_line", "first lines with numbers alone, where the official list has no such line",
        "passed over; the protocol says how many folds there are"},
       {"large_score", "detector scores above 1, where most lie from 0 to 1",
        "the score counts; in a fusion by scores such an image outweighs its template"}});
  return table;
}

std::string ListPlace::text() const {
  if (!part.empty()) return file + ": " + part;
  return line > 0 ? at_line(file, line) : file;
}

const BlemishRule& FoundBlemishes::rule() const {
  return blemish_rules().entries()[static_cast<std::size_t>(kind)];
}

void Blemishes::add(BlemishKind kind, std::int64_t count,
                    const std::vector<std::pair<ListPlace, std::string>>& first) {
  if (count == 0) return;
  FoundBlemishes& blemishes = of(kind);
  blemishes.count += count;
  for (const auto& [place, what] : first)
    if (blemishes.first.size() < kFirst) record(blemishes, place, what);
}

std::string Blemishes::place(const ListPlace& place) const {
  return ListPlace{below(place.file), place.line, place.part}.text();
}

FoundBlemishes& Blemishes::of(BlemishKind kind) {
  const auto at = std::ranges::lower_bound(kinds_, kind, {}, &FoundBlemishes::kind);
  if (at != kinds_.end() && at->kind == kind) return *at;
  return *kinds_.insert(at, FoundBlemishes{kind, 0, {}});
}

void Blemishes::record(FoundBlemishes& blemishes, const ListPlace& place, std::string what) const {
  if (!place.part.empty()) what = place.part + ": " + what;
  blemishes.first.push_back({below(place.file), place.line, std::move(what)});
}

std::string Blemishes::below(const std::string& file) const {
  const auto relative =
      std::filesystem::path(file).lexically_normal().lexically_relative(lists_.lexically_normal());
  return relative.empty() ? file : relative.generic_string();
}

std::string blemish_sentence(const FoundBlemishes& blemishes) {
  std::string doc = blemishes.rule().doc;
  doc[0] = static_cast<char>(doc[0] - 'a' + 'A');
  std::string text = fmt::format("{}: {}; {}. ", doc, blemishes.count, blemishes.rule().rule);
  text += blemishes.count == 1 ? "It is in " : "First: ";
  constexpr std::size_t most = 3;
  for (std::size_t i = 0; i < std::min(blemishes.first.size(), most); ++i)
    text += fmt::format("{}{}: {}", i == 0 ? "" : "; ",
                        ListPlace{blemishes.first[i].file, blemishes.first[i].line, ""}.text(),
                        blemishes.first[i].what);
  return text + ".";
}

Json blemishes_json(const std::vector<FoundBlemishes>& all) {
  Json result = Json::array();
  for (const FoundBlemishes& blemishes : all) {
    Json first = Json::array();
    for (const Blemish& b : blemishes.first)
      first.push_back({{"file", b.file},
                       {"line", b.line > 0 ? Json(b.line) : Json(nullptr)},
                       {"what", b.what}});
    result.push_back(
        {{"kind", blemishes.rule().name}, {"count", blemishes.count}, {"first", first}});
  }
  return result;
}

}  // namespace facebench
