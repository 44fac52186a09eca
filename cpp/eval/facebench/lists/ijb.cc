// IJB-B and IJB-C in either packaging; which it is, files tell that are there.
//
// As InsightFace packs them (folder meta/; text, single blanks, no header), recognised by
// P_face_tid_mid.txt (image, template, medium). P_name_5pts_score.txt (image, five points, score of
// the detection) has the same images row by row; rows out of step are an Error with both lines.
// P_template_pair_label.txt: two templates and 1 or 0. Source: insightface,
// recognition/_evaluation_/ijb/ijb_evals.py.
//
// As NIST gave them out (folder protocols/; CSV): a row of P_1N_gallery_G1.csv, P_1N_gallery_G2.csv
// and P_1N_probe_mixed.csv is an image of a template, with TEMPLATE_ID, SUBJECT_ID, FILENAME (or
// FILE) and SIGHTING_ID (or MEDIA_ID), which is the medium; P_11_G1_G2_matches.csv has two
// templates a line without header. A file with several subjects is FILE#SUBJECT_ID. No detector
// scores. Source: bob.db.ijbc, query.py.
//
// 1:1 verification, one track "verification". People are the subjects; in InsightFace's packaging
// what genuine comparisons connect.
//
// 1:N identification of the mixed probes, a track for each gallery, by its name; or, pooled, one
// track "G1+G2". InsightFace's packaging has the CSV files too, and of them TEMPLATE_ID and
// SUBJECT_ID are read.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "facebench/core/error.h"
#include "facebench/core/options.h"
#include "facebench/io/presence.h"
#include "facebench/io/text.h"
#include "facebench/lists/internal/list_file.h"
#include "facebench/lists/internal/reader_entry.h"
#include "facebench/lists/internal/sample_names.h"
#include "facebench/lists/internal/template_pairs.h"
#include "facebench/lists/internal/template_rows.h"
#include "facebench/trials/identification_trials.h"
#include "facebench/trials/listed_trials.h"

namespace facebench {
namespace {

namespace fs = std::filesystem;

struct IjbOptions {
  std::string prefix;
  std::vector<std::string> galleries;
  bool pooled = false;
  static void describe(OptionsBuilder<IjbOptions>& o) {
    o.name("ijb", "IJB-B's and IJB-C's lists.");
    o.field("prefix", &IjbOptions::prefix, "what names of files begin with: ijbb, ijbc").required =
        true;
    o.field("galleries", &IjbOptions::galleries, "the galleries as files name them: G1, G2")
        .required = true;
    o.field("pooled", &IjbOptions::pooled,
            "all galleries are one, which holds a mate of every probe (1:N alone)");
  }
};

const TemplateColumns kNistColumns{{"FILENAME", "FILE"}, {"SIGHTING_ID", "MEDIA_ID"}};

// Rows hold the number as digits.
std::int64_t template_number(const TemplateRow& row) {
  return parse_int(row.template_id, {"TEMPLATE_ID", 0});
}

// Template ids by their number in a list of rows, in order of first appearance, as add_templates()
// numbers them.
TemplateIndex index_of(const std::vector<TemplateRows>& lists) {
  TemplateIndex index;
  for (const TemplateRows& list : lists)
    for (const TemplateRow& row : list.rows)
      index.try_emplace(template_number(row), static_cast<std::int32_t>(index.size()));
  return index;
}

std::int64_t whole(std::string_view text, const Place& place, std::string_view what,
                   std::int64_t highest) {
  const std::int64_t value = parse_int(text, place, what);
  if (value < 0 || value > highest)
    fail(at_line(place.file, place.line),
         fmt::format("{} {} lies outside 0 to {}", what, value, highest));
  return value;
}

class IjbReader : public OptionsReader<IjbOptions> {
 public:
  using OptionsReader::OptionsReader;
  std::vector<std::string> files() const override { return packed_files(); }
  std::vector<std::string> missing(const fs::path& lists) const override {
    std::vector<std::string> packed = absent_of(packed_files(), lists),
                             official = absent_of(official_files(), lists);
    if (is_packed(lists)) return packed;
    return official.size() < official_files().size() ? official : packed;
  }

  TrialSet read(const fs::path& lists) const override {
    TrialSet set;
    Blemishes blemishes(lists);
    const bool packed = is_packed(lists);
    set.notes.emplace_back(packed ? "The lists are those that InsightFace packs."
                                  : "The lists are NIST's own, which have no detector scores.");
    if (packed)
      read_packed(lists, set, blemishes);
    else
      read_official(lists, set, blemishes);
    set.blemishes = blemishes.kinds();
    set.check();
    return set;
  }

 protected:
  virtual std::vector<std::string> packed_files() const = 0;
  virtual std::vector<std::string> official_files() const = 0;
  virtual void read_packed(const fs::path& lists, TrialSet& set, Blemishes& blemishes) const = 0;
  virtual void read_official(const fs::path& lists, TrialSet& set, Blemishes& blemishes) const = 0;

  std::string faces_file() const { return options_.prefix + "_face_tid_mid.txt"; }
  std::string points_file() const { return options_.prefix + "_name_5pts_score.txt"; }
  std::string probes_file() const { return options_.prefix + "_1N_probe_mixed.csv"; }
  std::string gallery_file(std::string_view gallery) const {
    return fmt::format("{}_1N_gallery_{}.csv", options_.prefix, gallery);
  }
  std::vector<std::string> template_files() const {
    std::vector<std::string> files;
    for (const std::string& g : options_.galleries) files.push_back(gallery_file(g));
    files.push_back(probes_file());
    return files;
  }

  // The faces of InsightFace's packaging, without their subjects.
  std::vector<TemplateRow> read_faces(const fs::path& lists, TrialSet& set,
                                      Blemishes& blemishes) const {
    const ListFile faces(lists / faces_file(), "faces", blemishes),
        points(lists / points_file(), "points and scores", blemishes);
    std::vector<TemplateRow> rows;
    rows.reserve(faces.lines().size());
    for (std::size_t i = 0; i < faces.lines().size(); ++i) {
      const TextLine& line = faces.lines()[i];
      const auto fields = split_whitespace(line.text);
      if (fields.size() != 3)
        fail(faces.where(line),
             fmt::format("image, template and medium are expected, got {} fields", fields.size()));
      if (i == points.lines().size())
        fail(faces.where(line),
             fmt::format("{} has no row for {}: it ends after {}", points_file(), fields[0], i),
             "The rows of the two files must be in step; fetch both again.");
      const TextLine& other = points.lines()[i];
      const auto values = split_whitespace(other.text);
      if (values.size() != 12)
        fail(points.where(other),
             fmt::format("image, five points and score are 12 fields, got {}", values.size()));
      if (values[0] != fields[0])
        fail(points.where(other),
             fmt::format("the image is {}, but {} in line {} of {}", values[0], fields[0],
                         line.number, faces_file()),
             "The rows of the two files must be in step; fetch both again.");
      const double score = parse_double(values[11], points.place(other), "the score");
      if (score < 0) fail(points.where(other), fmt::format("the score is {}", values[11]));
      constexpr std::int64_t any = 999'999'999'999'999'999;
      rows.push_back({std::to_string(whole(fields[1], faces.place(line), "the template", any)), "",
                      sample_name(fields[0], blemishes, [&] { return faces.at(line); }),
                      static_cast<std::int32_t>(
                          whole(fields[2], faces.place(line), "the medium", 2'147'483'647)),
                      static_cast<float>(score)});
    }
    if (rows.empty()) fail(faces.name(), "the list is empty");
    if (points.lines().size() != rows.size())
      fail(points.where(points.lines()[rows.size()]),
           fmt::format("there are {} rows, but {} in {}", points.lines().size(), rows.size(),
                       faces_file()),
           "The rows of the two files must be in step; fetch both again.");
    note_large_scores(rows, points, blemishes);
    set.lists.push_back(faces.list());
    set.lists.push_back(points.list());
    return rows;
  }

  // Another scale for all of them changes nothing, since templates are brought to unit length; a
  // few in per cent, or without their point, are as good as alone in their templates.
  static void note_large_scores(const std::vector<TemplateRow>& rows, const ListFile& points,
                                Blemishes& blemishes) {
    const auto is_large = [](const TemplateRow& row) { return *row.score > 1; };
    if (2 * std::ranges::count_if(rows, is_large) >= std::ssize(rows)) return;
    for (std::size_t i = 0; i < rows.size(); ++i)
      if (is_large(rows[i]))
        blemishes.add(
            BlemishKind::large_score, [&] { return points.at(points.lines()[i]); },
            [&] { return fmt::format("{} has {}", rows[i].file, *rows[i].score); });
  }

  // NIST's files of templates, whose ids are one space: each template is in one file.
  std::vector<TemplateRows> read_nist(const fs::path& lists, TrialSet& set,
                                      Blemishes& blemishes) const {
    std::vector<TemplateRows> all;
    std::unordered_map<std::string, std::string> file_of;
    for (const std::string& file : template_files()) {
      all.push_back({"", read_template_rows(lists / file, file, kNistColumns, set, blemishes)});
      for (const TemplateRow& row : all.back().rows)
        if (const auto [at, fresh] = file_of.try_emplace(row.template_id, file);
            !fresh && at->second != file)
          fail((lists / file).string(),
               fmt::format("template {} is in {} too", row.template_id, at->second));
    }
    return all;
  }

  const IjbOptions& chosen() const { return options_; }

 private:
  bool is_packed(const fs::path& lists) const { return is_file(lists / faces_file()); }
};

class Ijb11Reader : public IjbReader {
 public:
  using IjbReader::IjbReader;

 protected:
  std::string packed_pairs() const { return chosen().prefix + "_template_pair_label.txt"; }
  std::string official_pairs() const {
    return fmt::format("{}_11_{}_matches.csv", chosen().prefix, fmt::join(chosen().galleries, "_"));
  }
  std::vector<std::string> packed_files() const override {
    return {faces_file(), points_file(), packed_pairs()};
  }
  std::vector<std::string> official_files() const override {
    std::vector<std::string> files = template_files();
    files.push_back(official_pairs());
    return files;
  }

  void read_packed(const fs::path& lists, TrialSet& set, Blemishes& blemishes) const override {
    std::vector<TemplateRows> rows{{"", read_faces(lists, set, blemishes)}};
    const TemplateIndex index = index_of(rows);
    TemplatePairs pairs =
        read_template_pairs(lists / packed_pairs(), {' ', true, faces_file()}, index, blemishes);
    set.lists.push_back(pairs.list);
    const std::vector<std::int32_t> person = connected_templates(pairs, index.size(), blemishes);
    std::vector<std::string> name(index.size());
    for (const auto& [id, number] : index) name[number] = fmt::format("of template {}", id);
    for (TemplateRow& row : rows.front().rows)
      row.subject = name[person[index.at(template_number(row))]];
    add_templates(rows, set);
    set.tracks.push_back({"verification", std::move(pairs.trials)});
  }

  void read_official(const fs::path& lists, TrialSet& set, Blemishes& blemishes) const override {
    const std::vector<TemplateRows> rows = read_nist(lists, set, blemishes);
    TemplatePairs pairs = read_template_pairs(lists / official_pairs(),
                                              {',', false, "the files of galleries and probes"},
                                              index_of(rows), blemishes);
    set.lists.push_back(pairs.list);
    add_templates(rows, set);
    ListedTrials& trials = pairs.trials;
    trials.genuine.reserve(trials.comparisons.size());
    for (const Comparison& c : trials.comparisons)
      trials.genuine.push_back(set.unit_identity(c.first) == set.unit_identity(c.second));
    set.tracks.push_back({"verification", std::move(trials)});
  }
};

class Ijb1nReader : public IjbReader {
 public:
  using IjbReader::IjbReader;

 protected:
  std::vector<std::string> packed_files() const override {
    std::vector<std::string> files = template_files();
    files.push_back(faces_file());
    files.push_back(points_file());
    return files;
  }
  std::vector<std::string> official_files() const override { return template_files(); }

  // The rows of the CSV files are those of the faces again, with subjects.
  void read_packed(const fs::path& lists, TrialSet& set, Blemishes& blemishes) const override {
    const std::vector<TemplateRow> faces = read_faces(lists, set, blemishes);
    std::unordered_map<std::string, std::vector<const TemplateRow*>> of_template;
    for (const TemplateRow& face : faces) of_template[face.template_id].push_back(&face);
    std::vector<TemplateRows> all;
    std::unordered_map<std::string, std::string> file_of;
    for (const std::string& file : template_files()) {
      TemplateRows& rows = all.emplace_back();
      for (const auto& [id, subject] : read_subjects(lists / file, set, blemishes)) {
        const auto faces_of = of_template.find(id);
        if (faces_of == of_template.end())
          fail((lists / file).string(), fmt::format("template {} is not in {}", id, faces_file()),
               "Do the files belong to one release?");
        if (const auto [at, fresh] = file_of.try_emplace(id, file); !fresh)
          fail((lists / file).string(), fmt::format("template {} is in {} too", id, at->second));
        for (const TemplateRow* face : faces_of->second) {
          rows.rows.push_back(*face);
          rows.rows.back().subject = subject;
        }
      }
    }
    add_tracks(all, add_templates(all, set), set);
  }

  void read_official(const fs::path& lists, TrialSet& set, Blemishes& blemishes) const override {
    const std::vector<TemplateRows> all = read_nist(lists, set, blemishes);
    add_tracks(all, add_templates(all, set), set);
  }

 private:
  // Templates and their subjects in order of first appearance.
  static std::vector<std::pair<std::string, std::string>> read_subjects(const fs::path& path,
                                                                        TrialSet& set,
                                                                        Blemishes& blemishes) {
    const ListCsv list = read_list_csv(path, path.filename().string(), blemishes);
    const CsvTable& csv = list.table;
    const std::size_t id = csv.column("TEMPLATE_ID"), subject = csv.column("SUBJECT_ID");
    std::vector<std::pair<std::string, std::string>> all;
    std::unordered_map<std::int64_t, std::int64_t> subject_of;
    for (std::size_t r = 0; r < csv.rows(); ++r) {
      const std::int64_t t = csv.integer(r, id), s = csv.integer(r, subject);
      const auto [known, fresh] = subject_of.try_emplace(t, s);
      if (fresh) all.emplace_back(std::to_string(t), std::to_string(s));
      if (known->second != s)
        fail(list.at(r).text(),
             fmt::format("template {} is of subject {} here, of {} before", t, s, known->second));
    }
    if (all.empty()) fail(csv.name(), "the list is empty");
    set.lists.push_back(list.list);
    return all;
  }

  // A gallery has one template of a person, and galleries share nobody; what differs is searched as
  // it is. `lists`: the galleries, and the probes last.
  void note_shared_people(const std::vector<TemplateRows>& lists, TrialSet& set) const {
    std::unordered_map<std::string, std::pair<std::size_t, std::string>> first;  // of a person
    std::size_t shared = 0, twice = 0;
    std::string example_shared, example_twice;
    for (std::size_t g = 0; g + 1 < lists.size(); ++g) {
      std::unordered_map<std::string, std::string> here;
      for (const TemplateRow& row : lists[g].rows) {
        const auto [mine, fresh_here] = here.try_emplace(row.subject, row.template_id);
        if (!fresh_here && mine->second != row.template_id) {
          mine->second = row.template_id;
          if (twice++ == 0)
            example_twice = fmt::format("{} in {}", row.subject, chosen().galleries[g]);
        }
        const auto [at, fresh] = first.try_emplace(row.subject, g, row.template_id);
        if (!fresh && fresh_here && at->second.first != g && shared++ == 0)
          example_shared = row.subject;
      }
    }
    if (shared > 0)
      set.notes.push_back(fmt::format(
          "{} people are in several galleries, which share nobody in the official lists, such as "
          "subject {}.",
          shared, example_shared));
    if (twice > 0)
      set.notes.push_back(
          fmt::format("A gallery has more than one template of a person {} times, such as of "
                      "subject {}; the official lists have one each.",
                      twice, example_twice));
  }

  // `lists`: the galleries, and the probes last.
  void add_tracks(const std::vector<TemplateRows>& lists, const TemplateNumbers& numbers,
                  TrialSet& set) const {
    const auto units = [&](const TemplateRows& list) {
      std::vector<std::int32_t> result;
      std::int32_t before = -1;
      for (const TemplateRow& row : list.rows)
        if (const std::int32_t unit = numbers.at(row.template_id); unit > before)
          result.push_back(before = unit);  // numbered in order of first appearance
      return result;
    };
    const std::vector<std::int32_t> probes = units(lists.back());
    note_shared_people(lists, set);
    IdentificationTrials pooled;
    for (std::size_t g = 0; g + 1 < lists.size(); ++g) {
      IdentificationTrials trials;
      trials.gallery = units(lists[g]);
      trials.probes = probes;
      pooled.gallery.insert(pooled.gallery.end(), trials.gallery.begin(), trials.gallery.end());
      if (!chosen().pooled) set.tracks.push_back({chosen().galleries[g], std::move(trials)});
    }
    if (!chosen().pooled) return;
    pooled.probes = probes;
    set.tracks.push_back(
        {fmt::format("{}", fmt::join(chosen().galleries, "+")), std::move(pooled)});
  }
};

IjbOptions read_ijb_options(const TomlTable& table) {
  auto options = read_options<IjbOptions>(table);
  if (options.galleries.empty()) table.fail_at("galleries", "no gallery is named");
  return options;
}

}  // namespace

TrialReaderEntry ijb_1_1_reader() {
  return reader_entry<Ijb11Reader>(
      "ijb_1_1", "IJB-B's and IJB-C's comparisons of templates, as NIST or InsightFace packs them",
      read_ijb_options);
}

TrialReaderEntry ijb_1_n_reader() {
  return reader_entry<Ijb1nReader>(
      "ijb_1_n", "IJB-B's and IJB-C's galleries and probes, as NIST or InsightFace packs them",
      read_ijb_options);
}

}  // namespace facebench
