#include "protocols/template_list.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "facebench/core/error.h"
#include "facebench/io/text.h"
#include "facebench/protocols/matrix_trials.h"
#include "protocols/sample_names.h"

namespace facebench {
namespace {

namespace fs = std::filesystem;

struct Block {
  std::size_t group = 0;
  std::size_t number = 0;  // 0: template 1, 1: template 2
};

struct Keys {
  std::string file, track;
  std::int64_t size = 0;
  std::vector<std::string> block_names, groups;
  std::vector<Block> blocks;
  const IdentityRule* identity = nullptr;
};

class TemplateListReader : public TrialReader {
 public:
  explicit TemplateListReader(Keys keys) : keys_(std::move(keys)) {}

  Json options() const override {
    return {{"file", keys_.file},
            {"track", keys_.track},
            {"size", keys_.size},
            {"blocks", keys_.block_names},
            {"identity", keys_.identity->name}};
  }
  std::vector<std::string> files() const override { return {keys_.file}; }

  TrialSet read(const fs::path& lists) const override {
    const TextFile text(lists / keys_.file);
    const auto size = static_cast<std::size_t>(keys_.size);
    const std::size_t run = keys_.blocks.size() * size;  // lines of a subject
    const auto& lines = text.lines();
    if (lines.empty()) fail(at_line(text.name(), 1), "the list is empty", "Download it again.");
    if (lines.size() % run != 0)
      fail(at_line(text.name(), lines.back().number),
           fmt::format("the list ends after {} lines; {} are expected for each subject",
                       lines.size(), run),
           "It was cut off, or its blocks are others than the protocol says.");
    TrialSet set;
    TrialSetBuilder builder(set);
    MatrixTrials trials;
    trials.groups = keys_.groups;
    const std::size_t groups = keys_.groups.size();
    std::unordered_map<std::string, std::int64_t> subjects, images;
    std::int64_t shared = 0;
    for (std::size_t begin = 0; begin < lines.size(); begin += run) {
      const std::string subject = person(text, lines[begin]);
      if (const auto [at, fresh] = subjects.try_emplace(subject, lines[begin].number); !fresh)
        fail(at_line(text.name(), lines[begin].number),
             fmt::format("the templates of {} are in line {} already", subject, at->second));
      const std::size_t first = trials.first.size();
      trials.first.resize(first + groups);
      trials.second.resize(first + groups);
      images.clear();
      for (std::size_t b = 0; b < keys_.blocks.size(); ++b) {
        const Block& block = keys_.blocks[b];
        (block.number == 0 ? trials.first : trials.second)[first + block.group] =
            static_cast<std::int32_t>(set.templates.size());
        set.templates.add(fmt::format("{}/{}", subject, keys_.block_names[b]),
                          builder.person(subject));
        const std::int64_t block_line = lines[begin + b * size].number;
        for (std::size_t i = 0; i < size; ++i) {
          const TextLine& line = lines[begin + b * size + i];
          if (person(text, line) != subject)
            fail(at_line(text.name(), line.number),
                 fmt::format("{} is not of {}, whose {} lines begin in line {}", trim(line.text),
                             subject, run, lines[begin].number));
          const std::string name(trim(line.text));
          const auto [at, fresh] = images.try_emplace(name, line.number);
          if (!fresh && at->second >= block_line)
            fail(at_line(text.name(), line.number),
                 fmt::format("{} is in line {} of the same template already", name, at->second));
          if (!fresh) ++shared;
          at->second = line.number;
          set.templates.add_sample(builder.sample(name, subject), static_cast<std::int32_t>(i));
        }
      }
    }
    set.tracks.push_back({keys_.track, std::move(trials)});
    set.lists.push_back(trial_list("templates", lists / keys_.file, text.bytes()));
    if (shared > 0)
      set.lists.back().notes.push_back(
          fmt::format("has {} images in two templates of a subject", shared));
    set.check();
    return set;
  }

 private:
  std::string person(const TextFile& text, const TextLine& line) const {
    const auto where = [&] { return at_line(text.name(), line.number); };
    const std::string name = sample_name(trim(line.text), where);
    std::string result = keys_.identity->person(name);
    if (result.empty())
      fail(where(), fmt::format("the name '{}' does not say who it is", name),
           fmt::format("The rule '{}' expects: {}.", keys_.identity->name, keys_.identity->doc));
    return result;
  }

  Keys keys_;
};

void read_blocks(const TomlTable& table, Keys& k) {
  k.block_names = table.texts("blocks");
  for (std::size_t b = 0; b < k.block_names.size(); ++b) {
    const std::string& name = k.block_names[b];
    const std::size_t slash = name.rfind('/');
    const std::string number = slash == std::string::npos ? "" : name.substr(slash + 1);
    if (slash == 0 || (number != "1" && number != "2"))
      table.fail_at("blocks", fmt::format("'{}' is not GROUP/1 or GROUP/2", name));
    if (std::find(k.block_names.begin(), k.block_names.begin() + static_cast<std::ptrdiff_t>(b),
                  name) != k.block_names.begin() + static_cast<std::ptrdiff_t>(b))
      table.fail_at("blocks", fmt::format("'{}' is there twice", name));
    const std::string group = name.substr(0, slash);
    const auto known = std::ranges::find(k.groups, group);
    k.blocks.push_back({static_cast<std::size_t>(known - k.groups.begin()),
                        static_cast<std::size_t>(number == "2")});
    if (known == k.groups.end()) k.groups.push_back(group);
  }
  if (k.blocks.empty() || k.blocks.size() != 2 * k.groups.size())
    table.fail_at("blocks", "every group needs its templates 1 and 2");
}

}  // namespace

std::unique_ptr<TrialReader> make_template_list_reader(const TomlTable& table) {
  Keys k;
  k.file = table.text("file");
  k.track = table.text("track");
  k.size = table.integer("size");
  if (k.size < 1 || k.size > 100'000) table.fail_at("size", "a template has 1 to 100,000 images");
  read_blocks(table, k);
  k.identity = &identity_rule(table, "folder");
  if (k.identity->person == nullptr)
    table.fail_at("identity", "a template list has no genuine pairs that connect people");
  return std::make_unique<TemplateListReader>(std::move(k));
}

}  // namespace facebench
