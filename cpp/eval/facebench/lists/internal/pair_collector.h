#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "facebench/lists/internal/sample_names.h"
#include "facebench/trials/blemishes.h"
#include "facebench/trials/listed_trials.h"
#include "facebench/trials/trials.h"

namespace facebench {

// Collects the comparisons of a list of any format as they are given, and counts what is odd:
// repeated pairs, samples compared with themselves, labels that contradict who is on the samples.
class PairCollector {
 public:
  // A place in the list, as a number whose meaning only the reader knows: a line, say.
  using Position = std::int64_t;

  PairCollector(std::function<ListPlace(Position)> where, Blemishes& blemishes)
      : where_(std::move(where)), blemishes_(&blemishes) {}

  // The comparisons that follow belong to this track.
  void begin_track(std::string name);
  // Throws Error naming the position. `fold` counts from 0; -1 = the list has none.
  void add(std::string_view first, std::string_view second, bool genuine, std::int32_t fold,
           Position position);

  // The genuine comparisons of the current track cut into `folds` runs of one length in the order
  // of the list, the impostor ones likewise. With `genuine_too` false only the latter. Throws Error
  // naming `list` where a class does not divide.
  void number_folds(std::int64_t folds, bool genuine_too, const std::string& list);

  // Everything as a set that passed TrialSet::check(). Throws Error where a name has no person
  // under the rule, or more than a tenth of the labels contradict the people; the collector is
  // empty afterwards.
  TrialSet finish(const IdentityRule& rule);
  // The same with people that the reader knows.
  TrialSet finish(const std::function<std::string(const std::string& sample)>& person);

 private:
  struct Gathered {
    std::string name;
    ListedTrials trials;
    std::vector<Position> position;
  };

  std::int32_t sample(std::string_view text, Position position);
  std::vector<std::int32_t> connected() const;
  TrialSet build(const std::vector<std::string>& person, std::string_view source);
  void count_conflicts(const Gathered& gathered, const TrialSet& set, std::string_view source);

  std::function<ListPlace(Position)> where_;
  Blemishes* blemishes_;
  std::vector<std::string> names_;
  std::vector<Position> named_at_;
  std::unordered_map<std::string, std::int32_t> samples_;  // by the name in NFC
  UnicodeForms forms_;
  std::unordered_map<std::uint64_t, Position> seen_;
  std::vector<Gathered> tracks_;
};

}  // namespace facebench
