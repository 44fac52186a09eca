// The CSV files of IJB-A: each row is one image or frame of a template, with columns TEMPLATE_ID,
// SUBJECT_ID, FILE, MEDIA_ID (others are not looked at). A sample is a FILE; where a file shows
// several of the subjects it is FILE#SUBJECT_ID. Source: Klare et al., CVPR 2015.
//
// Splits that are not there are noted; at least one must be.
//
// 1:1 verification, one track a split: templates out of verify_metadata_K.csv, and
// verify_comparisons_K.csv without header, two template numbers a line, genuine where the subjects
// are the same. The folder is "IJB-A_11_sets" unless the table says otherwise.
//
// 1:N identification, one track a split: search_gallery_K.csv and search_probe_K.csv. The
// folder is "IJB-A_1N_sets" unless the table says otherwise.

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "facebench/core/error.h"
#include "facebench/core/options.h"
#include "facebench/io/presence.h"
#include "facebench/lists/internal/list_file.h"
#include "facebench/lists/internal/reader_entry.h"
#include "facebench/lists/internal/template_rows.h"
#include "facebench/trials/identification_trials.h"
#include "facebench/trials/listed_trials.h"

namespace facebench {
namespace {

namespace fs = std::filesystem;

struct IjbaOptions {
  std::string folder;
  std::vector<std::int64_t> splits{1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
  static void describe(OptionsBuilder<IjbaOptions>& o) {
    o.name("ijba", "IJB-A's splits.");
    o.field("folder", &IjbaOptions::folder, "the folder that holds the splits' folders");
    o.field("splits", &IjbaOptions::splits, "the splits to measure", 1, 999);
  }
};

const TemplateColumns kIjbaColumns{{"FILE"}, {"MEDIA_ID"}};

// `folder`: what holds the splits' folders, unless the table says otherwise.
IjbaOptions read_ijba_options(const TomlTable& table, const char* folder) {
  const auto options = read_options(table, IjbaOptions{.folder = folder});
  if (options.splits.empty()) table.fail_at("splits", "no split is named");
  for (const std::int64_t s : options.splits)
    if (std::ranges::count(options.splits, s) > 1)
      table.fail_at("splits", fmt::format("{} is named twice", s));
  return options;
}

class IjbaReader : public OptionsReader<IjbaOptions> {
 public:
  using OptionsReader::OptionsReader;
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
    std::vector<TemplateRows> templates;
    std::vector<std::int64_t> present;
    std::string absent;
    for (const std::int64_t split : options_.splits) {
      if (!has(lists, split)) {
        absent += fmt::format("{}{}", absent.empty() ? "" : ", ", split);
        continue;
      }
      present.push_back(split);
      read_templates(lists, split, templates, set, blemishes);
    }
    if (present.empty())
      fail((lists / options_.folder).string(), "none of the splits is there",
           fmt::format("Expected is, for example, {}.", files().front()));
    if (!absent.empty())
      set.notes.push_back(fmt::format("Splits that are not there: {}; {} of {} are measured.",
                                      absent, present.size(), options_.splits.size()));
    const TemplateNumbers numbers = add_templates(templates, set);
    for (const std::int64_t split : present)
      set.tracks.push_back(read_track(lists, split, numbers, set, blemishes));
    set.blemishes = blemishes.kinds();
    set.check();
    return set;
  }

 protected:
  // Below the folder of the lists.
  virtual std::vector<std::string> files_of(std::int64_t split) const = 0;
  virtual void read_templates(const fs::path& lists, std::int64_t split,
                              std::vector<TemplateRows>& out, TrialSet& set,
                              Blemishes& blemishes) const = 0;
  virtual Track read_track(const fs::path& lists, std::int64_t split,
                           const TemplateNumbers& numbers, TrialSet& set,
                           Blemishes& blemishes) const = 0;
  std::string place(std::int64_t split, std::string_view file) const {
    return fmt::format("{}/split{}/{}_{}.csv", options_.folder, split, file, split);
  }
  static std::string prefix(std::int64_t split) { return fmt::format("split{}/", split); }

 private:
  // A split of which a part is missing is not absent but damaged: reading it says what lacks.
  bool has(const fs::path& lists, std::int64_t split) const {
    return std::ranges::any_of(files_of(split),
                               [&](const std::string& f) { return is_file(lists / f); });
  }
};

class Ijba11Reader : public IjbaReader {
 public:
  using IjbaReader::IjbaReader;

 protected:
  std::vector<std::string> files_of(std::int64_t split) const override {
    return {place(split, "verify_metadata"), place(split, "verify_comparisons")};
  }
  void read_templates(const fs::path& lists, std::int64_t split, std::vector<TemplateRows>& out,
                      TrialSet& set, Blemishes& blemishes) const override {
    out.push_back({prefix(split), read_template_rows(lists / place(split, "verify_metadata"),
                                                     fmt::format("metadata {}", split),
                                                     kIjbaColumns, set, blemishes)});
  }
  Track read_track(const fs::path& lists, std::int64_t split, const TemplateNumbers& numbers,
                   TrialSet& set, Blemishes& blemishes) const override {
    const ListCsv list =
        read_list_csv(lists / place(split, "verify_comparisons"),
                      fmt::format("comparisons {}", split), blemishes, {.header = false});
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
      if (c.first == c.second) blemishes.add(BlemishKind::self_comparison, where, ids);
      const auto [low, high] = std::minmax(c.first, c.second);
      const auto key = static_cast<std::uint64_t>(low) << 32 | static_cast<std::uint32_t>(high);
      const auto [earlier, fresh] = line_of.try_emplace(key, csv.place(row).line);
      if (!fresh)
        blemishes.add(BlemishKind::repeated_pair, where, [&, earlier = earlier] {
          return fmt::format("{}, as in line {}", ids(), earlier->second);
        });
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
  void read_templates(const fs::path& lists, std::int64_t split, std::vector<TemplateRows>& out,
                      TrialSet& set, Blemishes& blemishes) const override {
    for (const char* side : {"gallery", "probe"})
      out.push_back(
          {fmt::format("{}{}/", prefix(split), side),
           read_template_rows(lists / place(split, fmt::format("search_{}", side)),
                              fmt::format("{} {}", side, split), kIjbaColumns, set, blemishes)});
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

TrialReaderEntry ijba_1_1_reader() {
  return reader_entry<Ijba11Reader>(
      "ijba_1_1", "IJB-A's templates and comparisons of templates, ten splits",
      [](const TomlTable& table) { return read_ijba_options(table, "IJB-A_11_sets"); });
}

TrialReaderEntry ijba_1_n_reader() {
  return reader_entry<Ijba1nReader>(
      "ijba_1_n", "IJB-A's galleries and probes, ten splits",
      [](const TomlTable& table) { return read_ijba_options(table, "IJB-A_1N_sets"); });
}

}  // namespace facebench
