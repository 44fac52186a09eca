#include "facebench/runs/internal/score_vectors.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>

#include "facebench/core/error.h"
#include "facebench/core/numbers.h"
#include "facebench/io/file.h"
#include "facebench/io/hdf5.h"
#include "facebench/io/text.h"

namespace facebench {
namespace {

constexpr const char* kOneAxis = "In numpy: numpy.save(FILE, scores), one axis, a score each.";

// What stands behind 'KEY': in the header, up to the next comma that is not in brackets.
std::string value_of(std::string_view header, std::string_view key, const std::string& where) {
  const std::string quoted = fmt::format("'{}':", key);
  const std::size_t at = header.find(quoted);
  if (at == std::string_view::npos)
    fail(where, fmt::format("its header has no '{}'", key), kOneAxis);
  std::string_view rest = header.substr(at + quoted.size());
  std::size_t end = 0;
  for (int depth = 0; end < rest.size(); ++end) {
    if (rest[end] == '(') ++depth;
    if (rest[end] == ')') --depth;
    if ((rest[end] == ',' && depth <= 0) || rest[end] == '}') break;
  }
  return std::string(trim(rest.substr(0, end)));
}

template <class T>
std::vector<double> as_doubles(std::string_view bytes) {
  std::vector<double> values(bytes.size() / sizeof(T));
  for (std::size_t k = 0; k < values.size(); ++k) {
    T value;
    std::memcpy(&value, bytes.data() + k * sizeof(T), sizeof(T));
    values[k] = static_cast<double>(value);
  }
  return values;
}

struct NumpyType {
  std::string_view name;
  std::size_t size;
  std::vector<double> (*read)(std::string_view bytes);
};
constexpr NumpyType kTypes[] = {
    {"'<f8'", 8, as_doubles<double>},        {"'<f4'", 4, as_doubles<float>},
    {"'|i1'", 1, as_doubles<std::int8_t>},   {"'|u1'", 1, as_doubles<std::uint8_t>},
    {"'<i2'", 2, as_doubles<std::int16_t>},  {"'<i4'", 4, as_doubles<std::int32_t>},
    {"'<i8'", 8, as_doubles<std::int64_t>},  {"'<u2'", 2, as_doubles<std::uint16_t>},
    {"'<u4'", 4, as_doubles<std::uint32_t>}, {"'<u8'", 8, as_doubles<std::uint64_t>},
    {"'|b1'", 1, as_doubles<std::uint8_t>},
};

std::vector<double> numpy_vector(const std::filesystem::path& path) {
  const std::string where = path.string();
  const std::string bytes = read_file(path);
  const std::string_view all = bytes;
  if (!all.starts_with("\x93NUMPY") || all.size() < 10)
    fail(where, "does not begin as a .npy file does", kOneAxis);
  const bool wide = bytes[6] != 1;  // the header's length has two bytes, later four
  const std::size_t begin = wide ? 12 : 10;
  std::uint32_t length = 0;
  if (all.size() >= begin) std::memcpy(&length, bytes.data() + 8, wide ? 4 : 2);
  if (all.size() < begin || length > all.size() - begin)
    fail(where, "ends within its header", kOneAxis);
  const std::string_view header = all.substr(begin, length), data = all.substr(begin + length);
  const std::string descr = value_of(header, "descr", where);
  const std::string shape = value_of(header, "shape", where);
  const auto type = std::ranges::find(kTypes, descr, &NumpyType::name);
  if (type == std::end(kTypes))
    fail(where, fmt::format("holds {}, not plain numbers of this byte order", printable(descr)),
         "Scores are float64 or float32: numpy.save(FILE, scores.astype(float)).");
  const std::string expected = fmt::format("({},)", data.size() / type->size);
  if (shape != expected || data.size() % type->size != 0)
    fail(where,
         fmt::format("has the shape {} and {} bytes of numbers", printable(shape), data.size()),
         kOneAxis);
  return type->read(data);
}

std::vector<double> hdf5_vector(const std::filesystem::path& path) {
  const H5Reader file(path);
  const std::vector<std::string> names = file.names();
  if (names.size() != 1)
    fail(path.string(),
         fmt::format("holds {}, not one vector",
                     names.empty() ? "nothing" : fmt::format("{}", fmt::join(names, ", "))),
         "Of two files each holds one vector; one file holds two, genuine and impostor.");
  return numbers_of(file, names.front());
}

}  // namespace

bool holds_vector(const std::filesystem::path& path) {
  const std::string end = lower_ascii(path.extension().string());
  return end == ".npy" || end == ".h5" || end == ".hdf5" || end == ".hdf";
}

std::vector<double> score_vector(const std::filesystem::path& path) {
  return lower_ascii(path.extension().string()) == ".npy" ? numpy_vector(path) : hdf5_vector(path);
}

void check_finite(std::span<const double> scores, const std::filesystem::path& path) {
  for (std::size_t k = 0; k < scores.size(); ++k)
    if (!std::isfinite(scores[k]))
      fail(path.string(), fmt::format("score [{}] is {}", k, scores[k]),
           "Every comparison needs a finite number, higher or lower the more alike.");
}

bool are_labels(std::span<const double> values) {
  const auto only = [&](double other) {
    return std::ranges::all_of(values, [&](double v) { return v == 1 || v == other; });
  };
  return std::ranges::count(values, 1) > 0 && (only(0) || only(-1));
}

bool are_scores_and_labels(std::span<const std::filesystem::path> files) {
  if (!std::ranges::all_of(files, holds_vector)) return false;
  const auto first = score_vector(files[0]), second = score_vector(files[1]);
  return first.size() == second.size() && are_labels(first) != are_labels(second);
}

std::vector<double> numbers_of(const H5Reader& file, const std::string& name) {
  const std::string path = "/" + name;
  const auto doubles = [](const auto& values) {
    return std::vector<double>(values.begin(), values.end());
  };
  switch (file.type(path)) {
    case H5Type::uint8:
      return doubles(file.read<std::uint8_t>(path, 1));
    case H5Type::float32:
      return doubles(file.read<float>(path, 1));
    case H5Type::int32:
      return doubles(file.read<std::int32_t>(path, 1));
    case H5Type::int64:
      return doubles(file.read<std::int64_t>(path, 1));
    default:
      return file.read<double>(path, 1);
  }
}

}  // namespace facebench
