#include "facebench/io/embeddings.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <deque>
#include <span>
#include <stdexcept>
#include <string_view>
#include <unordered_set>

#include "facebench/core/error.h"
#include "facebench/core/nfc.h"
#include "facebench/io/hdf5.h"
#include "facebench/io/text.h"

namespace facebench {

void check_embeddings(const EmbeddingSet& set, std::string_view where) {
  const std::size_t n = set.names.size();
  if (set.dim <= 0 || set.status.size() != n ||
      set.values.size() != n * static_cast<std::size_t>(set.dim))
    throw std::invalid_argument(
        fmt::format("embeddings: {} names, {} statuses and {} numbers do not make rows of {}", n,
                    set.status.size(), set.values.size(), set.dim));
  std::unordered_set<std::string_view> seen;
  std::deque<std::string> in_nfc;  // of the few names that are not
  seen.reserve(n);
  for (std::size_t i = 0; i < n; ++i) {
    const std::string& name = set.names[i];
    if (name.empty()) fail(where, fmt::format("row {} has no name", i));
    if (!is_utf8(name)) fail(where, fmt::format("the name of row {} is not UTF-8", i));
    const std::string_view compared =
        may_change_in_nfc(name) ? in_nfc.emplace_back(nfc(name)) : std::string_view(name);
    if (!seen.insert(compared).second) {
      const auto end = set.names.begin() + static_cast<std::ptrdiff_t>(i);
      const bool same = std::find(set.names.begin(), end, name) != end;
      fail(where, fmt::format("row {}: the name '{}' is there twice{}", i, name,
                              same ? "" : ", in two Unicode forms, which are compared in NFC"));
    }
    const auto row = set.row(i);
    if (set.status[i] == SampleStatus::ok) {
      if (!std::all_of(row.begin(), row.end(), [](float v) { return std::isfinite(v); }))
        fail(where, fmt::format("row {} ('{}') holds NaN or an infinity", i, name),
             "Find out why its embedding failed, or give the row a status other than ok and zeros");
    } else if (!std::all_of(row.begin(), row.end(), [](float v) { return v == 0; })) {
      fail(where, fmt::format("row {} ('{}') has status {} but is not zeros", i, name,
                              sample_status_name(set.status[i])));
    }
  }
}

namespace {

// /embedding as float32, which numbers of float64 are rounded to: numpy's default is what many
// files hold. Of rows of at least one number.
std::vector<float> read_values(const H5Reader& file, std::span<const std::int64_t> shape,
                               std::span<const std::string> names) {
  if (file.type("/embedding") != H5Type::float64) return file.read<float>("/embedding", 2);
  const std::vector<double> doubles = file.read<double>("/embedding", 2);
  std::vector<float> values(doubles.begin(), doubles.end());
  const auto dim = static_cast<std::size_t>(shape[1]);
  for (std::size_t row = 0; row < static_cast<std::size_t>(shape[0]); ++row) {
    const std::span from = std::span(doubles).subspan(row * dim, dim);
    const std::span to = std::span(values).subspan(row * dim, dim);
    bool lost = false, zeros = true, were_zeros = true;
    for (std::size_t i = 0; i < dim; ++i) {
      lost = lost || (std::isinf(to[i]) && std::isfinite(from[i]));
      zeros = zeros && to[i] == 0;
      were_zeros = were_zeros && from[i] == 0;
    }
    if (lost || (zeros && !were_zeros)) {
      const double largest = *std::max_element(
          from.begin(), from.end(), [](double a, double b) { return std::abs(a) < std::abs(b); });
      fail(file.path().string(),
           fmt::format("row {} ('{}') holds {:.3g}, which float32 does not hold", row,
                       row < names.size() ? names[row] : "", largest),
           "Bring the embeddings to another scale");
    }
  }
  return values;
}

}  // namespace

EmbeddingSet read_embeddings(const std::filesystem::path& path) {
  const H5Reader file(path);
  const std::string where = path.string();
  EmbeddingSet set;
  for (const char* name : {"/embedding", "/name"})
    if (!file.has(name))
      fail(where, fmt::format("has no data set {}", name),
           "An HDF5 file of embeddings has /embedding, numbers (N, D), and /name, N texts; of "
           "arrays under other names make an .npz, whose names are looked for.");
  set.names = file.read_texts("/name");
  // Before the rows are looked at: of no numbers, a file holds as many as it says.
  const std::vector<std::int64_t> shape = file.shape("/embedding");
  if (shape.size() == 2 && shape[1] == 0) fail(where, "/embedding has rows of no numbers");
  set.values = read_values(file, shape, set.names);
  set.dim = shape[1];
  if (file.has("/status")) {
    for (const std::uint8_t value : file.read<std::uint8_t>("/status", 1)) {
      if (value >= kSampleStatusCount)
        fail(where + ": /status",
             fmt::format("row {} holds {}, which is not a status", set.status.size(), value));
      set.status.push_back(static_cast<SampleStatus>(value));
    }
  } else {
    set.status.assign(set.names.size(), SampleStatus::ok);
  }
  if (file.has("/manifest")) set.manifest = file.read_json("/manifest");
  const auto rows = static_cast<std::size_t>(shape[0]);
  if (set.names.size() != rows || set.status.size() != rows)
    fail(where, fmt::format("/embedding has {} rows, /name {}, /status {}", rows, set.names.size(),
                            set.status.size()));
  check_embeddings(set, where);
  return set;
}

void write_embeddings(const std::filesystem::path& path, const EmbeddingSet& set) {
  check_embeddings(set, path.string());
  H5Writer file(path);
  const auto n = static_cast<std::int64_t>(set.size());
  std::vector<std::uint8_t> status(set.size());
  std::transform(set.status.begin(), set.status.end(), status.begin(),
                 [](SampleStatus s) { return static_cast<std::uint8_t>(s); });
  file.write<float>("/embedding", set.values, {n, set.dim});
  file.write_texts("/name", set.names);
  file.write<std::uint8_t>("/status", status, {n});
  file.write_json("/manifest", set.manifest);
  file.commit();
}

}  // namespace facebench
