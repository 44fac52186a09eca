#include "facebench/archives/internal/tar_samples.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "facebench/core/error.h"
#include "facebench/core/numbers.h"
#include "facebench/core/utf8.h"
#include "facebench/io/image_files.h"

namespace facebench {
namespace {

constexpr std::size_t kNamedPlaces = 12;
constexpr std::size_t kShown = 40;             // bytes of a label, in messages
constexpr std::size_t kMostLabelBytes = 1024;  // a longer text is not a label

bool is_litter_path(const std::filesystem::path& path) {
  for (const std::filesystem::path& part : path)
    if (part != "." && is_litter(part.string())) return true;
  return false;
}

std::string_view data_of(const TarMember& member, std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()) + member.offset, member.size};
}

// The value of a key, or of a path of keys a.b; null where it is not there.
const Json* value_at(const Json& json, std::string_view key) {
  if (!json.is_object()) return nullptr;
  if (const auto found = json.find(std::string(key)); found != json.end()) return &*found;
  const std::size_t dot = key.find('.');
  if (dot == std::string_view::npos) return nullptr;
  const auto below = json.find(std::string(key.substr(0, dot)));
  return below == json.end() ? nullptr : value_at(*below, key.substr(dot + 1));
}

void name_keys(const Json& json, const std::string& before, std::set<std::string>& keys) {
  for (const auto& [key, value] : json.items()) {
    if (keys.size() >= kNamedPlaces) return;
    if (value.is_object() && before.empty())
      name_keys(value, key + ".", keys);
    else
      keys.insert(printable(before + key));
  }
}

bool has_digit(std::string_view text) {
  return text.find_first_of("0123456789") != std::string_view::npos;
}

}  // namespace

TarGrouping::TarGrouping(std::string label) : label_(std::move(label)) {}

TarGrouping::File TarGrouping::file_of(TarMember&& member, std::size_t first_dot) const {
  File file;
  file.full_ending = lower_ascii(member.name.substr(first_dot + 1));
  const std::size_t last_dot = member.name.rfind('.');
  file.plain = last_dot == first_dot;
  file.stem = member.name.substr(0, last_dot);
  file.ending = lower_ascii(member.name.substr(last_dot + 1));
  file.image = is_image_ending("." + file.ending);
  file.member = std::move(member);
  return file;
}

bool TarGrouping::is_label_file(const File& file) const {
  if (file.image) return false;
  if (label_.empty()) return file.ending == "cls" || file.ending == "json";
  std::string wanted = lower_ascii(label_);
  if (wanted.starts_with('.')) wanted.erase(0, 1);
  return file.ending == "json" || file.ending == wanted || file.full_ending == wanted;
}

void TarGrouping::leave_out(const File& file) {
  ++unread_["." + (file.image ? file.full_ending : file.ending)];
}

void TarGrouping::add(TarMember&& member, std::span<const std::byte> bytes, const Take& take) {
  while (member.name.starts_with("./")) member.name.erase(0, 2);
  if (is_litter_path(member.name)) {
    litter_.emplace_back(member.name);
    return;
  }
  const std::size_t slash = member.name.rfind('/');
  const std::size_t base = slash == std::string::npos ? 0 : slash + 1;
  const std::size_t dot = member.name.find('.', base);
  if (dot == std::string::npos) {
    ++unread_["without an ending"];
    return;
  }
  if (key_ != std::string_view(member.name).substr(0, dot)) {
    finish(bytes, take);
    key_ = member.name.substr(0, dot);
  }
  group_.push_back(file_of(std::move(member), dot));
}

// 0001.input.jpg and 0001.target.cls are fields of 0001, where J.Doe_1.jpg and J.Roe_1.cls are of
// two samples: the key has a number, the fields have none, and the label is the only one.
std::vector<std::string>::iterator TarGrouping::label_field(const std::string& key,
                                                            bool plain_image,
                                                            std::vector<std::string>& stems,
                                                            OfStem& of_stem) {
  auto label = stems.end();
  bool image = plain_image;
  for (auto at = stems.begin(); at != stems.end(); ++at) {
    const auto& [images, labels] = of_stem[*at];
    if (has_digit(std::string_view(*at).substr(key.size()))) return stems.end();
    if (images.empty() && label != stems.end()) return stems.end();
    if (!images.empty() && !labels.empty()) return stems.end();
    if (images.empty()) label = at;
    image = image || !images.empty();
  }
  const bool numbered = has_digit(std::string_view(key).substr(key.rfind('/') + 1));
  return image && numbered ? label : stems.end();
}

void TarGrouping::finish(std::span<const std::byte> bytes, const Take& take) {
  const std::vector<File> group = std::exchange(group_, {});
  const std::string key = std::exchange(key_, {});
  std::vector<const File*> plain_images, plain_labels;
  std::vector<std::string> stems;  // with dots, in their order
  OfStem of_stem;
  for (const File& file : group) {
    const bool label = is_label_file(file);
    if (!file.image && !label) {
      leave_out(file);
      if (endings_.size() < kNamedPlaces) endings_.insert("." + file.ending);
    } else if (file.plain) {
      (file.image ? plain_images : plain_labels).push_back(&file);
    } else {
      const auto [at, fresh] = of_stem.try_emplace(file.stem);
      if (fresh) stems.push_back(file.stem);
      (file.image ? at->second.first : at->second.second).push_back(&file);
    }
  }
  if (plain_labels.empty())
    if (const auto field = label_field(key, !plain_images.empty(), stems, of_stem);
        field != stems.end()) {
      plain_labels = of_stem[*field].second;
      stems.erase(field);
    }
  bool shared = false;  // the group's label is that of images with dots
  const auto emit_plain = [&] {
    if (!plain_images.empty() || (!plain_labels.empty() && !shared))
      emit(key, plain_images, plain_labels, bytes, take);
  };
  if (!plain_images.empty()) emit_plain();
  for (const std::string& stem : stems) {
    const auto& [images, labels] = of_stem[stem];
    const bool fields = !plain_images.empty() && labels.empty() && !plain_labels.empty();
    if (fields || (images.empty() && !plain_images.empty())) {
      for (const auto* files : {&images, &labels})
        for (const File* file : *files) leave_out(*file);
      continue;
    }
    shared = shared || labels.empty();
    emit(stem, images, labels.empty() ? plain_labels : labels, bytes, take);
  }
  if (plain_images.empty()) emit_plain();
}

TarGrouping::Found TarGrouping::label_in_json(const Json& json) {
  const Json* value = value_at(json, label_.empty() ? "label" : label_);
  if (!value) {
    if (json.is_object()) name_keys(json, "", json_keys_);
    return {};
  }
  Found found;
  found.there = true;
  std::optional<LabelText> text;
  if (value->is_number_unsigned() && value->get<std::uint64_t>() < (1ull << 62))
    text = LabelText{value->get<std::int64_t>(), {}};
  else if (const auto whole =
               value->is_number_float() ? whole_number_of(value->get<double>()) : std::nullopt)
    text = LabelText{*whole, {}};
  else if (value->is_string())
    text = parse_label_text(value->get_ref<const std::string&>());
  if (text)
    found.text = *text;
  else
    found.wrong = fmt::format(
        "the label in its .json, {}, is neither a whole number from 0 on nor a name",
        printable(value->dump(-1, ' ', false, Json::error_handler_t::replace).substr(0, kShown)));
  return found;
}

TarGrouping::Found TarGrouping::label_in(const std::vector<const File*>& files,
                                         std::span<const std::byte> bytes) {
  Found text, json;
  for (const File* file : files) {
    const std::string_view data = data_of(file->member, bytes);
    if (file->ending == "json" && lower_ascii(label_) != "json") {
      json = label_in_json(Json::parse(data, nullptr, false));
      endings_.insert(".json");
      continue;
    }
    text.there = true;
    const auto label = data.size() > kMostLabelBytes ? std::nullopt : parse_label_text(data);
    if (label)
      text.text = *label;
    else
      text.wrong = fmt::format("its .{}, '{}', is neither a whole number from 0 on nor a name",
                               file->ending, printable(data.substr(0, kShown)));
  }
  if (!text.there) return json;
  contradictions_ += json.there && json.wrong.empty() && !(json.text == text.text);
  return text;
}

void TarGrouping::emit(const std::string& key, const std::vector<const File*>& images,
                       const std::vector<const File*>& labels, std::span<const std::byte> bytes,
                       const Take& take) {
  TarSample sample;
  sample.key = key;
  const Found found = label_in(labels, bytes);
  if (images.empty() && !found.there) {
    for (const File* file : labels) leave_out(*file);
    return;
  }
  labelled_ += found.there;
  sample.label = found.text.label;
  sample.person = found.text.person;
  sample.wrong = found.wrong;
  if (images.empty()) {
    sample.wrong = "has a label and no image";
  } else {
    sample.offset = images.back()->member.offset;
    sample.size = images.back()->member.size;
    if (images.size() > 1) sample.wrong = "has two images";
    if (sample.size == 0) sample.wrong = "the image has no bytes";
  }
  take(std::move(sample));
}

std::string TarGrouping::label_places() const {
  std::vector<std::string> places;
  if (!endings_.empty())
    places.push_back(fmt::format("files end in {}", fmt::join(endings_, ", ")));
  if (!json_keys_.empty())
    places.push_back(fmt::format("keys of .json are {}", fmt::join(json_keys_, ", ")));
  return fmt::format("{}", fmt::join(places, "; "));
}

void TarGrouping::refuse_absent_label(const std::string& where) const {
  if (label_.empty() || labelled_ > 0) return;
  const std::string places = label_places();
  fail(where, fmt::format("no sample has the label '{}'", printable(label_)),
       places.empty() ? "There are only images." : "Its " + places + ".");
}

std::vector<std::string> TarGrouping::notes() const {
  std::vector<std::string> notes;
  if (std::string note = litter_note(litter_); !note.empty()) notes.push_back(std::move(note));
  std::string unread;
  std::int64_t files = 0;
  std::size_t named = 0;
  for (const auto& [ending, count] : unread_) {
    files += count;
    if (++named <= kNamedPlaces)
      unread += fmt::format("{}{} {}", unread.empty() ? "" : ", ", count, printable(ending));
  }
  if (named > kNamedPlaces) unread += ", ...";
  if (files > 0) notes.push_back(fmt::format("{} files are not read: {}.", files, unread));
  if (contradictions_ > 0)
    notes.push_back(fmt::format("Of {} samples the label file and .json disagree: the file counts.",
                                contradictions_));
  return notes;
}

}  // namespace facebench
