// VGGFace2's template lists: one image `SUBJECT/FILE` a line, for each subject the same number of
// blocks of `size` images in a row; a block is a template. `blocks` names the templates in the
// order of the list as "GROUP/1" or "GROUP/2". Every group has both, and the matrix that results
// compares template 1 (rows) with template 2 (columns). Source: the data set's README (Cao et al.,
// FG 2018).

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "facebench/core/error.h"
#include "facebench/core/options.h"
#include "facebench/lists/internal/list_file.h"
#include "facebench/lists/internal/reader_entry.h"
#include "facebench/lists/internal/sample_names.h"
#include "facebench/trials/matrix_trials.h"

namespace facebench {
namespace {

namespace fs = std::filesystem;

struct TemplateListOptions {
  std::string file;
  std::string track;
  std::int64_t size = 1;
  std::vector<std::string> blocks;
  std::string identity = "folder";
  static void describe(OptionsBuilder<TemplateListOptions>& o) {
    o.name("template_list", "A list of templates.");
    o.field("file", &TemplateListOptions::file, "the list").required = true;
    o.field("track", &TemplateListOptions::track, "name of the track").required = true;
    o.field("size", &TemplateListOptions::size, "images of a template", 1, 100'000).required = true;
    o.field("blocks", &TemplateListOptions::blocks,
            "the templates of a subject in the order of the list, GROUP/1 or GROUP/2")
        .required = true;
    o.choice("identity", &TemplateListOptions::identity, "how a name tells who it is",
             identity_rules().names());
  }
};

struct Block {
  std::size_t group = 0;
  std::size_t number = 0;  // 0: template 1, 1: template 2
};

// The templates of a subject, out of the names of the blocks.
struct Blocks {
  std::vector<std::string> groups;
  std::vector<Block> blocks;
};

class TemplateListReader : public OptionsReader<TemplateListOptions> {
 public:
  TemplateListReader(TemplateListOptions options, Blocks blocks)
      : OptionsReader(std::move(options)),
        blocks_(std::move(blocks)),
        identity_(identity_rules().at(options_.identity)) {}

  std::vector<std::string> files() const override { return {options_.file}; }

  TrialSet read(const fs::path& lists) const override {
    Blemishes blemishes(lists);
    const ListFile text(lists / options_.file, "templates", blemishes);
    const auto size = static_cast<std::size_t>(options_.size);
    const std::size_t run = blocks_.blocks.size() * size;  // lines of a subject
    const auto& lines = text.lines();
    if (lines.empty()) fail(at_line(text.name(), 1), "the list is empty", "Download it again.");
    if (lines.size() % run != 0)
      fail(text.where(lines.back()),
           fmt::format("the list ends after {} lines; {} are expected for each subject",
                       lines.size(), run),
           "It was cut off, or its blocks are others than the protocol says.");
    std::vector<std::string> names;
    for (const TextLine& line : lines)
      names.push_back(sample_name(line.text, blemishes, [&] { return text.at(line); }));
    TrialSet set;
    TrialSetBuilder builder(set);
    MatrixTrials trials;
    trials.groups = blocks_.groups;
    const std::size_t groups = blocks_.groups.size();
    std::unordered_map<std::string, std::int64_t> subjects, images;
    std::int64_t shared = 0;
    for (std::size_t begin = 0; begin < lines.size(); begin += run) {
      const std::string subject = person(text, lines[begin], names[begin]);
      if (const auto [at, fresh] = subjects.try_emplace(subject, lines[begin].number); !fresh)
        fail(text.where(lines[begin]),
             fmt::format("the templates of {} are in line {} already", subject, at->second));
      const std::size_t first = trials.first.size();
      trials.first.resize(first + groups);
      trials.second.resize(first + groups);
      images.clear();
      for (std::size_t b = 0; b < blocks_.blocks.size(); ++b) {
        const Block& block = blocks_.blocks[b];
        (block.number == 0 ? trials.first : trials.second)[first + block.group] =
            static_cast<std::int32_t>(set.templates.size());
        set.templates.add(fmt::format("{}/{}", subject, options_.blocks[b]),
                          builder.person(subject));
        const std::int64_t block_line = lines[begin + b * size].number;
        for (std::size_t i = 0; i < size; ++i) {
          const TextLine& line = lines[begin + b * size + i];
          const std::string& name = names[begin + b * size + i];
          if (person(text, line, name) != subject)
            fail(text.where(line), fmt::format("{} is not of {}, whose {} lines begin in line {}",
                                               name, subject, run, lines[begin].number));
          const auto [at, fresh] = images.try_emplace(name, line.number);
          if (!fresh && at->second >= block_line)
            blemishes.add(
                BlemishKind::repeated_in_template, [&] { return text.at(line); },
                [&, line_of = at->second] {
                  return fmt::format("{}, as in line {}", name, line_of);
                });
          else if (!fresh)
            ++shared;
          at->second = line.number;
          set.templates.add_sample(builder.sample(name, subject), static_cast<std::int32_t>(i));
        }
      }
    }
    set.tracks.push_back({options_.track, std::move(trials)});
    set.lists.push_back(text.list());
    set.blemishes = blemishes.kinds();
    if (shared > 0)
      set.lists.back().notes.push_back(
          fmt::format("has {} images in two templates of a subject", shared));
    set.check();
    return set;
  }

 private:
  std::string person(const ListFile& text, const TextLine& line, const std::string& name) const {
    std::string result = identity_.person(name);
    if (result.empty())
      fail(text.where(line), fmt::format("the name '{}' does not say who it is", name),
           fmt::format("The rule '{}' expects: {}.", identity_.name, identity_.doc));
    return result;
  }

  Blocks blocks_;
  const IdentityRule& identity_;
};

Blocks read_blocks(const TomlTable& table, const std::vector<std::string>& names) {
  Blocks result;
  for (std::size_t b = 0; b < names.size(); ++b) {
    const std::string& name = names[b];
    const std::size_t slash = name.rfind('/');
    const std::string number = slash == std::string::npos ? "" : name.substr(slash + 1);
    if (slash == 0 || (number != "1" && number != "2"))
      table.fail_at("blocks", fmt::format("'{}' is not GROUP/1 or GROUP/2", name));
    const auto here = names.begin() + static_cast<std::ptrdiff_t>(b);
    if (std::find(names.begin(), here, name) != here)
      table.fail_at("blocks", fmt::format("'{}' is there twice", name));
    const std::string group = name.substr(0, slash);
    const auto known = std::ranges::find(result.groups, group);
    result.blocks.push_back({static_cast<std::size_t>(known - result.groups.begin()),
                             static_cast<std::size_t>(number == "2")});
    if (known == result.groups.end()) result.groups.push_back(group);
  }
  if (result.blocks.empty() || result.blocks.size() != 2 * result.groups.size())
    table.fail_at("blocks", "every group needs its templates 1 and 2");
  return result;
}

std::unique_ptr<TrialReader> make_template_list_reader(const TomlTable& table) {
  auto options = read_options<TemplateListOptions>(table);
  Blocks blocks = read_blocks(table, options.blocks);
  if (identity_rules().at(options.identity).person == nullptr)
    table.fail_at("identity", "a template list has no genuine pairs that connect people");
  return std::make_unique<TemplateListReader>(std::move(options), std::move(blocks));
}

}  // namespace

TrialReaderEntry template_list_reader() {
  return {"template_list", "VGGFace2's lists of templates, blocks of images for each subject",
          make_template_list_reader};
}

}  // namespace facebench
