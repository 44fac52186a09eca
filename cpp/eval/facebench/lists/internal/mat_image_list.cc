#include "facebench/lists/internal/mat_image_list.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <unordered_set>

#include "facebench/core/error.h"
#include "facebench/core/natural_order.h"
#include "facebench/io/file.h"
#include "facebench/io/mat5.h"
#include "facebench/io/sha256.h"
#include "facebench/lists/internal/sample_names.h"

namespace facebench {
namespace {

namespace fs = std::filesystem;

struct MatFile {
  std::string name, sha256;
  std::map<std::string, MatArray> variables;

  explicit MatFile(const fs::path& path) : name(path.string()) {
    const std::string bytes = read_file(path);
    sha256 = sha256_hex(bytes);
    variables = parse_mat5(std::as_bytes(std::span(bytes)), name);
  }
  const MatArray& at(const std::string& variable) const {
    const auto entry = variables.find(variable);
    if (entry == variables.end()) fail(name, fmt::format("there is no variable '{}'", variable));
    return entry->second;
  }
  std::vector<std::vector<std::string>> rows(const std::string& variable) const {
    return mat_text_rows(at(variable), name + ": " + variable);
  }
};

// The person that a name begins with, 12_3.jpg or 12_cam1_3.jpg; "" where it begins otherwise.
std::string person_in(const std::string& name) {
  const std::size_t end = name.find_first_not_of("0123456789");
  if (end == 0 || end == std::string::npos || name[end] != '_') return "";
  const std::size_t begin = std::min(name.find_first_not_of('0'), end - 1);
  return name.substr(begin, end - begin);
}

}  // namespace

std::vector<std::int32_t> read_mat_image_list(const fs::path& lists, const MatImageList& list,
                                              TrialSet& set, TrialSetBuilder& builder,
                                              Blemishes& blemishes) {
  const MatFile file(lists / list.file);
  const std::string name_set = list.what + "_set", id_set = list.what + "_ids";
  std::vector<std::string> names;
  for (const auto& row : file.rows(name_set)) names.insert(names.end(), row.begin(), row.end());
  const std::vector<double>& ids = file.at(id_set).numbers;
  if (names.empty() || ids.size() != names.size())
    fail(file.name,
         fmt::format("{} names in {} and {} people in {}", names.size(), name_set, ids.size(),
                     id_set),
         "Get the file again.");
  std::vector<std::int32_t> samples;
  std::unordered_set<std::string> seen;
  std::size_t conflicts = 0;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const auto where = [&] {
      return ListPlace{file.name, 0, fmt::format("{}, entry {}", name_set, i + 1)};
    };
    const std::string name = sample_name(names[i], blemishes, where);
    if (name.find('/') != std::string::npos)
      fail(where().text(), fmt::format("'{}' is not a name of a file", name));
    if (!seen.insert(name).second) fail(where().text(), fmt::format("{} is there twice", name));
    if (!(ids[i] >= 0 && ids[i] < 1e9) || ids[i] != std::floor(ids[i]))
      fail(where().text(), fmt::format("the person is {}, no whole number", ids[i]));
    const std::string person = fmt::format("{:.0f}", ids[i]);
    if (const std::string named = person_in(name); !named.empty() && named != person) {
      const auto what = [&] {
        return fmt::format("{} is of person {} by its name, of {} by {}", name, named, person,
                           id_set);
      };
      // Rows of the two arrays that are out of step.
      if (10 * ++conflicts > std::max<std::size_t>(names.size(), 10))
        fail(where().text(), what() + fmt::format(", and so are {} more", conflicts - 1),
             fmt::format("Do the rows of {} and {} belong together?", name_set, id_set));
      blemishes.add(BlemishKind::label_conflict, where, what);
    }
    samples.push_back(builder.sample(fmt::format("{}/{}", list.folder, name), person));
  }
  set.lists.push_back({list.what, file.name, file.sha256, {}});
  return samples;
}

std::vector<std::int32_t> add_unlisted_images(const fs::path& folder, const std::string& prefix,
                                              const std::string& title, TrialSet& set,
                                              TrialSetBuilder& builder) {
  std::vector<std::string> names;
  std::error_code error, ignored;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error))
    if (it->is_regular_file(ignored) && !it->path().filename().string().starts_with("."))
      names.push_back(it->path().filename().string());
  if (error) fail(folder.string(), "cannot be read: " + error.message());
  if (names.empty()) fail(folder.string(), "there is no image in the folder");
  std::ranges::sort(names, natural_less);
  std::vector<std::int32_t> samples;
  Sha256 hash;
  for (const std::string& name : names) {
    const std::string sample = fmt::format("{}/{}", prefix, name);
    samples.push_back(builder.sample(sample, sample));
    hash.update(name + "\n");
  }
  set.lists.push_back({title, folder, hash.hex(), {}});
  return samples;
}

std::vector<std::vector<std::string>> read_mat_pairs(const fs::path& path,
                                                     const std::string& variable, TrialSet& set) {
  const MatFile file(path);
  std::vector<std::vector<std::string>> rows = file.rows(variable);
  if (rows.empty() || rows.front().size() != 2)
    fail(file.name, fmt::format("{} is not a list of pairs: it has {} rows of {} columns", variable,
                                rows.size(), rows.empty() ? 0 : rows.front().size()));
  set.lists.push_back({variable, path, file.sha256, {}});
  return rows;
}

}  // namespace facebench
