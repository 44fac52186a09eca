#include "facebench/io/embedding_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <deque>
#include <unordered_set>
#include <utility>

#include "facebench/core/error.h"
#include "facebench/core/nfc.h"
#include "facebench/core/utf8.h"

namespace facebench {
namespace {

void check_name(const std::string& name, std::size_t number, std::string_view where) {
  if (name.empty()) fail(where, fmt::format("row {} has no name", number));
  if (!is_utf8(name)) fail(where, fmt::format("the name of row {} is not UTF-8", number));
}

}  // namespace

void check_embedding(const EmbeddingSet& set, std::size_t i, std::size_t number,
                     std::string_view where) {
  const std::string& name = set.names[i];
  const auto row = set.row(i);
  if (set.status[i] == SampleStatus::ok) {
    if (!std::all_of(row.begin(), row.end(), [](float v) { return std::isfinite(v); }))
      fail(where, fmt::format("row {} ('{}') holds NaN or an infinity", number, name),
           "Find out why its embedding failed, or give the row a status other than ok and zeros");
  } else if (!std::all_of(row.begin(), row.end(), [](float v) { return v == 0; })) {
    fail(where, fmt::format("row {} ('{}') has status {} but is not zeros", number, name,
                            sample_status_name(set.status[i])));
  }
}

void check_names(std::span<const std::string> names, std::span<const std::size_t> numbers,
                 std::string_view where) {
  std::unordered_set<std::string_view> seen;
  std::deque<std::string> in_nfc;  // of the few names that are not
  seen.reserve(names.size());
  for (std::size_t i = 0; i < names.size(); ++i) {
    const std::string& name = names[i];
    const std::size_t number = numbers.empty() ? i : numbers[i];
    check_name(name, number, where);
    const std::string_view compared =
        may_change_in_nfc(name) ? in_nfc.emplace_back(nfc(name)) : std::string_view(name);
    if (seen.insert(compared).second) continue;
    const auto before = names.first(i);
    const bool same = std::ranges::find(before, name) != before.end();
    fail(where, fmt::format("row {}: the name '{}' is there twice{}", number, name,
                            same ? "" : ", in two Unicode forms, which are compared in NFC"));
  }
}

// /embedding as float32, which numbers of float64 are rounded to: numpy's default is what many
// files hold. Of rows of at least one number.
std::vector<float> EmbeddingFile::read_values() const {
  if (file_.type("/embedding") != H5Type::float64) return file_.read<float>("/embedding", 2);
  const std::vector<double> doubles = file_.read<double>("/embedding", 2);
  std::vector<float> values(doubles.begin(), doubles.end());
  const auto columns = static_cast<std::size_t>(dim());
  for (std::size_t row = 0; row < names_.size(); ++row) {
    const std::span from = std::span(doubles).subspan(row * columns, columns);
    const std::span to = std::span(values).subspan(row * columns, columns);
    bool lost = false, zeros = true, were_zeros = true;
    for (std::size_t i = 0; i < columns; ++i) {
      lost = lost || (std::isinf(to[i]) && std::isfinite(from[i]));
      zeros = zeros && to[i] == 0;
      were_zeros = were_zeros && from[i] == 0;
    }
    if (lost || (zeros && !were_zeros)) {
      const double largest = *std::max_element(
          from.begin(), from.end(), [](double a, double b) { return std::abs(a) < std::abs(b); });
      fail(file_.path().string(),
           fmt::format("row {} ('{}') holds {:.3g}, which float32 does not hold", row, names_[row],
                       largest),
           "Bring the embeddings to another scale");
    }
  }
  return values;
}

EmbeddingFile::EmbeddingFile(const std::filesystem::path& path) : file_(path) {
  const std::string where = path.string();
  for (const char* name : {"/embedding", "/name"})
    if (!file_.has(name))
      fail(where, fmt::format("has no data set {}", name),
           "An HDF5 file of embeddings has /embedding, numbers (N, D), and /name, N texts; of "
           "arrays under other names make an .npz, whose names are looked for.");
  names_ = file_.read_texts("/name");
  // Before the rows are looked at: of no numbers, a file holds as many as it says.
  shape_ = file_.shape("/embedding");
  if (shape_.size() == 2 && shape_[1] == 0) fail(where, "/embedding has rows of no numbers");
  if (shape_.size() != 2) values_ = read_values();  // says what it should be
  if (file_.has("/status")) {
    for (const std::uint8_t value : file_.read<std::uint8_t>("/status", 1)) {
      if (value >= kSampleStatusCount)
        fail(where + ": /status",
             fmt::format("row {} holds {}, which is not a status", status_.size(), value));
      status_.push_back(static_cast<SampleStatus>(value));
    }
  } else {
    status_.assign(names_.size(), SampleStatus::ok);
  }
  const auto rows = static_cast<std::size_t>(shape_[0]);
  if (names_.size() != rows || status_.size() != rows)
    fail(where, fmt::format("/embedding has {} rows, /name {}, /status {}", rows, names_.size(),
                            status_.size()));
}

Json EmbeddingFile::manifest() const {
  return file_.has("/manifest") ? file_.read_json("/manifest") : Json::object();
}

EmbeddingSet EmbeddingFile::all() && {
  EmbeddingSet set;
  set.dim = dim();
  set.values = read_values();
  set.names = std::move(names_);
  set.status = std::move(status_);
  set.manifest = manifest();
  return set;
}

EmbeddingSet EmbeddingFile::rows(std::int64_t first, std::int64_t count) {
  const auto begin = static_cast<std::size_t>(first), n = static_cast<std::size_t>(count);
  const std::size_t columns = static_cast<std::size_t>(dim()), numbers = n * columns;
  EmbeddingSet set;
  set.dim = dim();
  set.names.assign(names_.begin() + first, names_.begin() + first + count);
  set.status.assign(status_.begin() + first, status_.begin() + first + count);
  const auto offset = file_.type("/embedding") == H5Type::float32
                          ? file_.dataset_offset("/embedding")
                          : std::nullopt;
  if (offset) {
    if (!mapped_) mapped_.emplace(file_.path());
    const std::size_t at = *offset + begin * columns * sizeof(float);
    const std::span bytes = mapped_->bytes();
    if (at > bytes.size() || numbers * sizeof(float) > bytes.size() - at)
      fail(file_.path().string(), "the file has changed since it was opened");
    set.values.resize(numbers);
    std::memcpy(set.values.data(), bytes.data() + at, numbers * sizeof(float));
    mapped_->forget(at, numbers * sizeof(float));
  } else {
    if (values_.empty()) values_ = read_values();
    const float* from = values_.data() + begin * columns;
    set.values.assign(from, from + numbers);
  }
  for (std::size_t i = 0; i < n; ++i) check_embedding(set, i, begin + i, file_.path().string());
  return set;
}

}  // namespace facebench
