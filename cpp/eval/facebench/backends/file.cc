// /manifest: JSON of the settings and the training set; /step/N/mean, /step/N/basis, /cross and
// /square: float64.

#include <fmt/format.h>

#include <cmath>

#include "facebench/backends/backend.h"
#include "facebench/core/error.h"
#include "facebench/io/hdf5.h"
#include "facebench/io/sha256.h"

namespace facebench {
namespace {

constexpr int kFormat = 1;

std::span<const double> values_of(const Eigen::VectorXd& v) {
  return {v.data(), static_cast<std::size_t>(v.size())};
}
std::span<const double> values_of(const RowMatrix<double>& m) {
  return {m.data(), static_cast<std::size_t>(m.size())};
}

Json content_of(const Backend& b) {
  Json steps = Json::array();
  for (const FittedStep& step : b.steps)
    steps.push_back({{"step", backend_text(std::span(&step.asked, 1))},
                     {"shrinkage", step.shrinkage},
                     {"rows", step.basis.rows()}});
  Json content = {
      {"format", kFormat},
      {"spec", b.spec},
      {"steps", steps},
      {"dim", b.dim()},
      {"constant", b.constant},
      {"notes", b.notes},
      {"training", {{"sha256", b.training_sha256}, {"people", b.people}, {"images", b.images}}}};
  if (!b.people_names.empty()) content["training"]["names"] = b.people_names;
  return content;
}

Eigen::VectorXd read_vector(const H5Reader& file, const std::string& name) {
  const std::vector<double> values = file.read<double>(name, 1);
  for (const double v : values)
    if (!std::isfinite(v)) fail(file.path().string(), name + " holds NaN or an infinity");
  return Eigen::Map<const Eigen::VectorXd>(values.data(), static_cast<Eigen::Index>(values.size()));
}

RowMatrix<double> read_matrix(const H5Reader& file, const std::string& name) {
  const std::vector<double> values = file.read<double>(name, 2);
  const std::vector<std::int64_t> shape = file.shape(name);
  for (const double v : values)
    if (!std::isfinite(v)) fail(file.path().string(), name + " holds NaN or an infinity");
  return MatrixView<double>(values.data(), shape[0], shape[1]);
}

// Sizes that fit each other; the hash says that the file is whole, not that it was made by us.
void check_sizes(const Backend& b, const std::string& where) {
  Eigen::Index width = b.dim();
  for (const FittedStep& step : b.steps) {
    if (width == 0 || step.mean.size() != width ||
        (step.basis.size() > 0 && step.basis.cols() != width))
      fail(where, fmt::format("the sizes of step {} do not fit", step.asked.name));
    if (step.basis.size() > 0) width = step.basis.rows();
  }
  if (b.cross.size() != width || b.square.size() != width)
    fail(where, "the sizes of the score do not fit");
}

}  // namespace

std::string backend_sha256(const Backend& b) {
  Sha256 hash;
  hash.update(canonical_json(content_of(b)));
  for (const FittedStep& step : b.steps) {
    hash.update(std::as_bytes(values_of(step.mean)));
    hash.update(std::as_bytes(values_of(step.basis)));
  }
  hash.update(std::as_bytes(values_of(b.cross)));
  hash.update(std::as_bytes(values_of(b.square)));
  return hash.hex();
}

void write_backend(const std::filesystem::path& path, const Backend& b) {
  H5Writer file(path);
  Json manifest = content_of(b);
  manifest["sha256"] = backend_sha256(b);
  file.write_json("/manifest", manifest);
  for (std::size_t i = 0; i < b.steps.size(); ++i) {
    const FittedStep& step = b.steps[i];
    const std::string group = fmt::format("/step/{}/", i);
    file.write<double>(group + "mean", values_of(step.mean), {step.mean.size()});
    if (step.basis.size() > 0)
      file.write<double>(group + "basis", values_of(step.basis),
                         {step.basis.rows(), step.basis.cols()});
  }
  file.write<double>("/cross", values_of(b.cross), {b.cross.size()});
  file.write<double>("/square", values_of(b.square), {b.square.size()});
  file.commit();
}

Backend read_backend(const std::filesystem::path& path) {
  const H5Reader file(path);
  const std::string where = path.string();
  if (!file.has("/manifest") || !file.has("/cross"))
    fail(where, "is not a back end", "Back ends are written by facebench.backends.");
  const Json manifest = file.read_json("/manifest");
  Backend b;
  try {
    if (manifest.at("format") != kFormat) fail(where, "is of another format than this version's");
    b.spec = manifest.at("spec").get<std::string>();
    b.constant = manifest.at("constant").get<double>();
    b.notes = manifest.at("notes").get<std::vector<std::string>>();
    const Json& training = manifest.at("training");
    b.training_sha256 = training.at("sha256").get<std::string>();
    b.people = training.at("people").get<std::int64_t>();
    b.images = training.at("images").get<std::int64_t>();
    if (training.contains("names"))
      b.people_names = training["names"].get<std::vector<std::string>>();
    const std::vector<BackendStep> asked = parse_backend(b.spec);
    if (manifest.at("steps").size() != asked.size()) fail(where, "has other steps than its spec");
    for (std::size_t i = 0; i < asked.size(); ++i) {
      FittedStep& step = b.steps.emplace_back();
      const std::string group = fmt::format("/step/{}/", i);
      step.asked = asked[i];
      step.unit = asked[i].name == "unit" || asked[i].name == "cosine";
      step.shrinkage = manifest.at("steps")[i].at("shrinkage").get<double>();
      step.mean = read_vector(file, group + "mean");
      if (file.has(group + "basis")) step.basis = read_matrix(file, group + "basis");
    }
    b.cross = read_vector(file, "/cross");
    b.square = read_vector(file, "/square");
    check_sizes(b, where);
    if (manifest.at("sha256") != backend_sha256(b))
      fail(where, "was changed since it was written: its SHA-256 is another", "Fit it again.");
  } catch (const Json::exception& e) {
    fail(where, fmt::format("its manifest is damaged ({})", e.what()), "Fit it again.");
  } catch (const std::invalid_argument& e) {
    fail(where, fmt::format("its manifest is damaged ({})", e.what()), "Fit it again.");
  }
  return b;
}

}  // namespace facebench
