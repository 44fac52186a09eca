#include "protocols/ijba.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <unordered_map>
#include <unordered_set>

#include "facebench/core/error.h"
#include "facebench/protocols/identification_trials.h"
#include "facebench/protocols/listed_trials.h"
#include "protocols/list_file.h"
#include "protocols/sample_names.h"

namespace facebench {
namespace {

namespace fs = std::filesystem;

IjbaOptions read_ijba_options(const TomlTable& table, std::string folder) {
  IjbaOptions options;
  options.folder = std::move(folder);
  options = read_options(table, options);
  if (options.splits.empty()) table.fail_at("splits", "no split is named");
  for (const std::int64_t s : options.splits)
    if (std::ranges::count(options.splits, s) > 1)
      table.fail_at("splits", fmt::format("{} is named twice", s));
  return options;
}

// The rows of one CSV file, checked.
struct Row {
  std::string template_id, subject, file;
  std::int32_t medium = 0;
};

std::vector<Row> read_rows(const fs::path& path, std::string role, TrialSet& set,
                           Blemishes& found) {
  const ListCsv list = read_list_csv(path, std::move(role), found);
  const CsvTable& csv = list.table;
  note_column_order(csv, {"TEMPLATE_ID", "SUBJECT_ID", "FILE", "MEDIA_ID"}, found);
  const std::size_t template_id = csv.column("TEMPLATE_ID"), subject = csv.column("SUBJECT_ID"),
                    file = csv.column("FILE"), media = csv.column("MEDIA_ID");
  std::vector<Row> rows;
  std::unordered_map<std::string, std::string> subject_of;
  std::unordered_map<std::string, std::int64_t> line_of;
  for (std::size_t r = 0; r < csv.rows(); ++r) {
    const auto place = [&] { return list.at(r); };
    const auto number = [&](std::size_t column, std::int64_t highest) {
      const std::int64_t value = csv.integer(r, column);
      if (value < 0 || value > highest)
        fail(place().text(),
             fmt::format("{} {} lies outside 0 to {}", csv.columns()[column], value, highest));
      return value;
    };
    constexpr std::int64_t any = std::int64_t{1} << 53;
    Row row{std::to_string(number(template_id, any)), std::to_string(number(subject, any)),
            sample_name(csv.cell(r, file), found, place),
            static_cast<std::int32_t>(number(media, 2'147'483'647))};
    const auto [owner, fresh] = subject_of.try_emplace(row.template_id, row.subject);
    if (!fresh && owner->second != row.subject)
      fail(place().text(), fmt::format("template {} is of subject {} here, of {} before",
                                       row.template_id, row.subject, owner->second));
    const auto [earlier, first] =
        line_of.try_emplace(row.template_id + " " + row.file, csv.place(r).line);
    if (!first)
      found.add(BlemishKind::repeated_in_template, place, [&] {
        return fmt::format("{} in template {}, as in line {}", row.file, row.template_id,
                           earlier->second);
      });
    rows.push_back(std::move(row));
  }
  if (rows.empty()) fail(csv.name(), "the list is empty");
  set.lists.push_back(list.list);
  return rows;
}

// One file of templates; `prefix` keeps the templates of different files apart.
struct List {
  std::string prefix;
  std::vector<Row> rows;
};

// Templates of all lists; number of each by prefix + TEMPLATE_ID, in order of first appearance.
using TemplateNumbers = std::unordered_map<std::string, std::int32_t>;
TemplateNumbers add_templates(const std::vector<List>& lists, TrialSet& set) {
  std::unordered_map<std::string, std::string> first_subject;
  std::unordered_set<std::string> shared;
  for (const List& list : lists)
    for (const Row& row : list.rows)
      if (const auto [known, fresh] = first_subject.try_emplace(row.file, row.subject);
          !fresh && known->second != row.subject)
        shared.insert(row.file);
  if (!shared.empty())
    set.notes.push_back(fmt::format(
        "{} files show several of the subjects; they are samples FILE#SUBJECT_ID.", shared.size()));
  TrialSetBuilder builder(set);
  TemplateNumbers numbers;
  for (const List& list : lists) {
    // Rows of one template need not lie together.
    std::vector<std::vector<const Row*>> of_template;
    TemplateNumbers local;
    for (const Row& row : list.rows) {
      const auto [at, fresh] =
          local.try_emplace(row.template_id, static_cast<std::int32_t>(of_template.size()));
      if (fresh) of_template.emplace_back();
      of_template[static_cast<std::size_t>(at->second)].push_back(&row);
    }
    for (const auto& rows : of_template) {
      const Row& first = *rows.front();
      const std::string name = list.prefix + first.template_id;
      numbers[name] = static_cast<std::int32_t>(set.templates.size());
      set.templates.add(name, builder.person(first.subject));
      for (const Row* row : rows)
        set.templates.add_sample(
            builder.sample(shared.contains(row->file) ? row->file + "#" + row->subject : row->file,
                           row->subject),
            row->medium);
    }
  }
  return numbers;
}

class IjbaReader : public TrialReader {
 public:
  explicit IjbaReader(IjbaOptions options) : options_(std::move(options)) {}
  Json options() const override { return options_to_json(options_); }
  std::vector<std::string> files() const override {
    std::vector<std::string> all;
    for (const std::int64_t split : options_.splits)
      for (std::string& file : files_of(split)) all.push_back(std::move(file));
    return all;
  }
  std::vector<std::string> missing(const fs::path& lists) const override {
    if (std::ranges::any_of(options_.splits, [&](std::int64_t s) { return has(lists, s); }))
      return {};
    return files();
  }

  TrialSet read(const fs::path& lists) const override {
    TrialSet set;
    Blemishes blemishes(lists);
    std::vector<List> templates;
    std::vector<std::int64_t> found;
    std::string absent;
    for (const std::int64_t split : options_.splits) {
      if (!has(lists, split)) {
        absent += fmt::format("{}{}", absent.empty() ? "" : ", ", split);
        continue;
      }
      found.push_back(split);
      read_templates(lists, split, templates, set, blemishes);
    }
    if (found.empty())
      fail((lists / options_.folder).string(), "none of the splits is there",
           fmt::format("Expected is, for example, {}.", files().front()));
    if (!absent.empty())
      set.notes.push_back(fmt::format("Splits that are not there: {}; {} of {} are measured.",
                                      absent, found.size(), options_.splits.size()));
    const TemplateNumbers numbers = add_templates(templates, set);
    for (const std::int64_t split : found)
      set.tracks.push_back(read_track(lists, split, numbers, set, blemishes));
    set.blemishes = blemishes.found();
    set.check();
    return set;
  }

 protected:
  // Below the folder of the lists.
  virtual std::vector<std::string> files_of(std::int64_t split) const = 0;
  virtual void read_templates(const fs::path& lists, std::int64_t split, std::vector<List>& out,
                              TrialSet& set, Blemishes& found) const = 0;
  virtual Track read_track(const fs::path& lists, std::int64_t split,
                           const TemplateNumbers& numbers, TrialSet& set,
                           Blemishes& found) const = 0;
  std::string place(std::int64_t split, std::string_view file) const {
    return fmt::format("{}/split{}/{}_{}.csv", options_.folder, split, file, split);
  }
  static std::string prefix(std::int64_t split) { return fmt::format("split{}/", split); }

 private:
  // A split of which a part is missing is not absent but damaged: reading it says what lacks.
  bool has(const fs::path& lists, std::int64_t split) const {
    std::error_code ignored;
    return std::ranges::any_of(files_of(split), [&](const std::string& f) {
      return fs::is_regular_file(lists / f, ignored);
    });
  }
  IjbaOptions options_;
};

class Ijba11Reader : public IjbaReader {
 public:
  using IjbaReader::IjbaReader;

 protected:
  std::vector<std::string> files_of(std::int64_t split) const override {
    return {place(split, "verify_metadata"), place(split, "verify_comparisons")};
  }
  void read_templates(const fs::path& lists, std::int64_t split, std::vector<List>& out,
                      TrialSet& set, Blemishes& found) const override {
    out.push_back({prefix(split), read_rows(lists / place(split, "verify_metadata"),
                                            fmt::format("metadata {}", split), set, found)});
  }
  Track read_track(const fs::path& lists, std::int64_t split, const TemplateNumbers& numbers,
                   TrialSet& set, Blemishes& found) const override {
    const ListCsv list =
        read_list_csv(lists / place(split, "verify_comparisons"),
                      fmt::format("comparisons {}", split), found, {.header = false});
    const CsvTable& csv = list.table;
    if (csv.columns().size() != 2)
      fail(at_line(csv.name(), 1),
           fmt::format("{} columns where two templates are expected", csv.columns().size()));
    ListedTrials trials;
    std::unordered_map<std::uint64_t, std::int64_t> line_of;
    for (std::size_t row = 0; row < csv.rows(); ++row) {
      const auto where = [&] { return list.at(row); };
      const auto unit = [&](std::size_t column) {
        const std::string id = std::to_string(csv.integer(row, column));
        const auto known = numbers.find(prefix(split) + id);
        if (known == numbers.end())
          fail(where().text(),
               fmt::format("template {} is not in the metadata of split {}", id, split));
        return known->second;
      };
      const Comparison c{unit(0), unit(1)};
      const auto ids = [&] {
        return fmt::format("templates {} and {}", csv.cell(row, 0), csv.cell(row, 1));
      };
      if (c.first == c.second) found.add(BlemishKind::self_comparison, where, ids);
      const auto [low, high] = std::minmax(c.first, c.second);
      const auto key = static_cast<std::uint64_t>(low) << 32 | static_cast<std::uint32_t>(high);
      const auto [earlier, fresh] = line_of.try_emplace(key, csv.place(row).line);
      if (!fresh)
        found.add(BlemishKind::repeated_pair, where,
                  [&] { return fmt::format("{}, as in line {}", ids(), earlier->second); });
      trials.comparisons.push_back(c);
      trials.genuine.push_back(set.unit_identity(c.first) == set.unit_identity(c.second));
    }
    if (trials.comparisons.empty()) fail(csv.name(), "the list is empty");
    set.lists.push_back(list.list);
    return {fmt::format("split{}", split), std::move(trials)};
  }
};

class Ijba1nReader : public IjbaReader {
 public:
  using IjbaReader::IjbaReader;

 protected:
  std::vector<std::string> files_of(std::int64_t split) const override {
    return {place(split, "search_gallery"), place(split, "search_probe")};
  }
  void read_templates(const fs::path& lists, std::int64_t split, std::vector<List>& out,
                      TrialSet& set, Blemishes& found) const override {
    for (const char* side : {"gallery", "probe"})
      out.push_back({fmt::format("{}{}/", prefix(split), side),
                     read_rows(lists / place(split, fmt::format("search_{}", side)),
                               fmt::format("{} {}", side, split), set, found)});
  }
  Track read_track(const fs::path&, std::int64_t split, const TemplateNumbers&, TrialSet& set,
                   Blemishes&) const override {
    IdentificationTrials trials;
    for (std::size_t t = 0; t < set.templates.size(); ++t) {
      if (set.templates.names[t].starts_with(prefix(split) + "gallery/"))
        trials.gallery.push_back(static_cast<std::int32_t>(t));
      if (set.templates.names[t].starts_with(prefix(split) + "probe/"))
        trials.probes.push_back(static_cast<std::int32_t>(t));
    }
    return {fmt::format("split{}", split), std::move(trials)};
  }
};

}  // namespace

std::unique_ptr<TrialReader> make_ijba_11_reader(const TomlTable& table) {
  return std::make_unique<Ijba11Reader>(read_ijba_options(table, "IJB-A_11_sets"));
}

std::unique_ptr<TrialReader> make_ijba_1n_reader(const TomlTable& table) {
  return std::make_unique<Ijba1nReader>(read_ijba_options(table, "IJB-A_1N_sets"));
}

}  // namespace facebench
