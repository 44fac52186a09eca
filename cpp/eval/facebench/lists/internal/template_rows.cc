#include "facebench/lists/internal/template_rows.h"

#include <fmt/format.h>

#include <unordered_set>

#include "facebench/core/error.h"
#include "facebench/lists/internal/list_file.h"
#include "facebench/lists/internal/sample_names.h"

namespace facebench {
namespace {

namespace fs = std::filesystem;

// The first of the names that is a column; where none is, the first, which then says what lacks.
std::string_view known(const CsvTable& csv, const std::vector<std::string_view>& names) {
  for (const std::string_view name : names)
    if (csv.has_column(name)) return name;
  return names.front();
}

}  // namespace

std::vector<TemplateRow> read_template_rows(const fs::path& path, std::string role,
                                            const TemplateColumns& columns, TrialSet& set,
                                            Blemishes& blemishes) {
  const ListCsv list = read_list_csv(path, std::move(role), blemishes);
  const CsvTable& csv = list.table;
  const std::string_view file_name = known(csv, columns.file),
                         medium_name = known(csv, columns.medium);
  note_column_order(csv, {"TEMPLATE_ID", "SUBJECT_ID", file_name, medium_name}, blemishes);
  const std::size_t template_id = csv.column("TEMPLATE_ID"), subject = csv.column("SUBJECT_ID"),
                    file = csv.column(file_name), media = csv.column(medium_name);
  std::vector<TemplateRow> rows;
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
    TemplateRow row{std::to_string(number(template_id, any)),
                    std::to_string(number(subject, any)),
                    sample_name(csv.cell(r, file), blemishes, place),
                    static_cast<std::int32_t>(number(media, 2'147'483'647)),
                    {}};
    const auto [owner, fresh] = subject_of.try_emplace(row.template_id, row.subject);
    if (!fresh && owner->second != row.subject)
      fail(place().text(), fmt::format("template {} is of subject {} here, of {} before",
                                       row.template_id, row.subject, owner->second));
    const auto [earlier, first] =
        line_of.try_emplace(row.template_id + " " + row.file, csv.place(r).line);
    if (!first)
      blemishes.add(BlemishKind::repeated_in_template, place, [&, earlier_line = earlier->second] {
        return fmt::format("{} in template {}, as in line {}", row.file, row.template_id,
                           earlier_line);
      });
    rows.push_back(std::move(row));
  }
  if (rows.empty()) fail(csv.name(), "the list is empty");
  set.lists.push_back(list.list);
  return rows;
}

TemplateNumbers add_templates(const std::vector<TemplateRows>& lists, TrialSet& set) {
  std::unordered_map<std::string, std::string> first_subject;
  std::unordered_set<std::string> shared;
  for (const TemplateRows& list : lists)
    for (const TemplateRow& row : list.rows)
      if (const auto [known, fresh] = first_subject.try_emplace(row.file, row.subject);
          !fresh && known->second != row.subject)
        shared.insert(row.file);
  if (!shared.empty())
    set.notes.push_back(fmt::format(
        "{} files show several of the subjects; they are samples FILE#SUBJECT_ID.", shared.size()));
  TrialSetBuilder builder(set);
  TemplateNumbers numbers;
  for (const TemplateRows& list : lists) {
    // Rows of one template need not lie together.
    std::vector<std::vector<const TemplateRow*>> of_template;
    TemplateNumbers local;
    for (const TemplateRow& row : list.rows) {
      const auto [at, fresh] =
          local.try_emplace(row.template_id, static_cast<std::int32_t>(of_template.size()));
      if (fresh) of_template.emplace_back();
      of_template[static_cast<std::size_t>(at->second)].push_back(&row);
    }
    for (const auto& rows : of_template) {
      const TemplateRow& first = *rows.front();
      const std::string name = list.prefix + first.template_id;
      numbers[name] = static_cast<std::int32_t>(set.templates.size());
      set.templates.add(name, builder.person(first.subject));
      for (const TemplateRow* row : rows) {
        const std::int32_t sample = builder.sample(
            shared.contains(row->file) ? row->file + "#" + row->subject : row->file, row->subject);
        if (row->score)
          set.templates.add_sample(sample, row->medium, *row->score);
        else
          set.templates.add_sample(sample, row->medium);
      }
    }
  }
  return numbers;
}

}  // namespace facebench
