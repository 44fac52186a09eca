#include "protocols/cfp_pairs.h"

#include <fmt/format.h>

#include <map>

#include "facebench/core/error.h"
#include "facebench/io/text.h"
#include "protocols/pair_collector.h"

namespace facebench {
namespace {

namespace fs = std::filesystem;

std::string image_list(const std::string& kind) {
  return fmt::format("Protocol/image_list_{}.txt", kind);
}

// The images that one list numbers, from 1.
std::vector<std::string> read_images(const TextFile& text) {
  std::vector<std::string> images;
  for (const TextLine& line : text.lines()) {
    const std::string where = at_line(text.name(), line.number);
    const auto fields = split_whitespace(line.text);
    if (fields.size() != 2)
      fail(where, fmt::format("{} fields where NUMBER PATH is expected", fields.size()));
    const std::int64_t number = parse_int(fields[0], text.place(line), "the image's number");
    if (number != static_cast<std::int64_t>(images.size()) + 1)
      fail(where, fmt::format("image number {} where {} is expected", number, images.size() + 1));
    // Some copies count from the list's own folder.
    std::string_view path = fields[1];
    if (path.starts_with("../")) path.remove_prefix(3);
    images.push_back(sample_name(path, [&] { return where; }));
  }
  if (images.empty()) fail(at_line(text.name(), 1), "the list is empty");
  return images;
}

class CfpReader : public TrialReader {
 public:
  explicit CfpReader(CfpPairsOptions options) : options_(std::move(options)) {}

  Json options() const override { return options_to_json(options_); }
  std::vector<std::string> files() const override {
    std::vector<std::string> result{image_list(options_.first)};
    if (options_.second != options_.first) result.push_back(image_list(options_.second));
    for (std::int64_t fold = 0; fold < options_.folds; ++fold)
      for (const bool genuine : {true, false}) result.push_back(pair_list(fold, genuine));
    return result;
  }

  TrialSet read(const fs::path& lists) const override {
    std::vector<TrialList> read;
    std::map<std::string, std::vector<std::string>> images;
    for (const std::string& kind : {options_.first, options_.second}) {
      if (images.contains(kind)) continue;
      const TextFile text(lists / image_list(kind));
      images[kind] = read_images(text);
      read.push_back(trial_list("images", lists / image_list(kind), text.bytes()));
    }
    const std::vector<std::string> all = files();
    const std::size_t first_pairs = read.size();
    PairCollector pairs([&](PairCollector::Position p) {
      return at_line((lists / all[static_cast<std::size_t>(p / kLines)]).string(), p % kLines);
    });
    pairs.begin_track(options_.track);
    for (std::size_t f = first_pairs; f < all.size(); ++f) {
      const TextFile text(lists / all[f]);
      const auto fold = static_cast<std::int32_t>((f - first_pairs) / 2);
      const bool genuine = (f - first_pairs) % 2 == 0;
      if (text.lines().empty()) fail(at_line(text.name(), 1), "the list is empty");
      for (const TextLine& line : text.lines()) {
        const auto [a, b] = numbers(text, line);
        pairs.add(at(images[options_.first], a, text, line),
                  at(images[options_.second], b, text, line), genuine, fold,
                  static_cast<std::int64_t>(f) * kLines + line.number);
      }
      read.push_back(trial_list("pairs", lists / all[f], text.bytes()));
    }
    TrialSet set = pairs.finish(identity_rules().at(options_.identity));
    set.lists = std::move(read);
    return set;
  }

 private:
  static constexpr std::int64_t kLines = std::int64_t{1} << 40;  // more than a file can have

  std::string pair_list(std::int64_t fold, bool genuine) const {
    return fmt::format("Split/{}/{:02d}/{}.txt", options_.split, fold + 1,
                       genuine ? "same" : "diff");
  }

  static std::pair<std::int64_t, std::int64_t> numbers(const TextFile& text, const TextLine& line) {
    const std::size_t comma = line.text.find(',');
    if (comma == std::string_view::npos || line.text.find(',', comma + 1) != std::string_view::npos)
      fail(at_line(text.name(), line.number), "two numbers with a comma between are expected");
    return {parse_int(trim(line.text.substr(0, comma)), text.place(line), "the first image"),
            parse_int(trim(line.text.substr(comma + 1)), text.place(line), "the second image")};
  }

  static const std::string& at(const std::vector<std::string>& images, std::int64_t number,
                               const TextFile& text, const TextLine& line) {
    if (number < 1 || number > static_cast<std::int64_t>(images.size()))
      fail(at_line(text.name(), line.number),
           fmt::format("there is no image {}; the image list has {}", number, images.size()));
    return images[static_cast<std::size_t>(number) - 1];
  }

  CfpPairsOptions options_;
};

}  // namespace

std::unique_ptr<TrialReader> make_cfp_pairs_reader(const TomlTable& table) {
  return std::make_unique<CfpReader>(read_options<CfpPairsOptions>(table));
}

}  // namespace facebench
