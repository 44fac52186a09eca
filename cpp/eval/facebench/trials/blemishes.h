#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "facebench/core/registry.h"
#include "facebench/io/json.h"

namespace facebench {

// What official lists have wrong although it is clear what is meant. They are evaluated all the
// same, by the rule of the kind; what cannot be meant is an Error of the reader.
enum class BlemishKind {
  repeated_pair,
  self_comparison,
  label_conflict,
  repeated_in_template,
  repeated_name,
  mask_conflict,
  mask_asymmetry,
  numbering,
  column_order,
  byte_order_mark,
  crlf,
  blanks,
  latin_1,
  header_line,
  large_score,
};

struct BlemishRule {
  std::string name;
  std::string doc;   // what it is
  std::string rule;  // how it is evaluated
};
// In the order of BlemishKind.
const Table<BlemishRule>& blemish_rules();

// A place in a list: a line, or where the file has no lines a part, "splits{3}, pair 12".
struct ListPlace {
  std::string file;
  std::int64_t line = 0;  // from 1; 0 = the file as a whole
  std::string part;

  // "FILE:LINE", "FILE: PART" or "FILE".
  std::string text() const;
};

struct Blemish {
  std::string file;  // below the folder of the lists
  std::int64_t line = 0;
  std::string what;
};

// All of one kind: their number, and the first few.
struct FoundBlemishes {
  BlemishKind kind = BlemishKind::repeated_pair;
  std::int64_t count = 0;
  std::vector<Blemish> first;

  const BlemishRule& rule() const;
};

// Counts the blemishes of lists while they are read. One costs an addition; only the first few of
// each kind become text.
class Blemishes {
 public:
  static constexpr std::size_t kFirst = 5;

  // `lists` is the folder of the lists.
  explicit Blemishes(std::filesystem::path lists) : lists_(std::move(lists)) {}

  // `where` is a ListPlace and `what` says what is wrong there. Either may be a function that gives
  // it, which is called only for what becomes text.
  template <class Where, class What>
  void add(BlemishKind kind, const Where& where, const What& what) {
    FoundBlemishes& blemishes = of(kind);
    if (blemishes.count++ < static_cast<std::int64_t>(kFirst))
      record(blemishes, given(where), given(what));
  }
  // Those that were counted elsewhere; `first` has at most kFirst places.
  void add(BlemishKind kind, std::int64_t count,
           const std::vector<std::pair<ListPlace, std::string>>& first);

  // A place as the text of a blemish names it, without the folder of the lists.
  std::string place(const ListPlace& place) const;
  // In the order of blemish_rules().
  const std::vector<FoundBlemishes>& kinds() const { return kinds_; }

 private:
  static decltype(auto) given(const auto& value) {
    if constexpr (requires { value(); })
      return value();
    else
      return (value);
  }
  FoundBlemishes& of(BlemishKind kind);
  void record(FoundBlemishes& blemishes, const ListPlace& place, std::string what) const;
  std::string below(const std::string& file) const;

  std::filesystem::path lists_;
  std::vector<FoundBlemishes> kinds_;
};

// One sentence about those of a kind: their number, the rule, and where the first are.
std::string blemish_sentence(const FoundBlemishes& blemishes);

// [{"kind", "count", "first": [{"file", "line", "what"}]}]; line is null for a whole file.
Json blemishes_json(const std::vector<FoundBlemishes>& all);

}  // namespace facebench
