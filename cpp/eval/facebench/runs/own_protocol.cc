#include "facebench/runs/own_protocol.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "facebench/core/look_alike.h"
#include "facebench/evaluation/spec.h"
#include "facebench/io/json.h"
#include "facebench/lists/reader.h"

namespace facebench {
namespace {

void replace_all(std::string& text, std::string_view what, std::string_view with) {
  for (std::size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += with.size())
    text.replace(at, what.size(), with);
}

// What a reader takes a name for; of ours and of others alike.
std::string read_name(std::string_view text) {
  constexpr std::pair<const char*, const char*> kLongNames[] = {
      {"labelled faces in the wild", "lfw"},
      {"labeled faces in the wild", "lfw"},
      {"celebrities in frontal profile in the wild", "cfp"},
      {"disguised faces in the wild", "dfw"},
      {"racial faces in the wild", "rfw"},
      {"balanced faces in the wild", "bfw"},
      {"iarpa janus benchmark", "ijb"},
      {"frontal to", "frontal"},
      {"official", ""},
      {"original", ""},
      {"standard", ""},
      {"protocol", ""},
      {"benchmark", ""},
      {"the", ""},
      {"three", "3"},
      {"iii", "3"},
      {"two", "2"},
      {"ii", "2"},
      {"one", "1"}};
  std::string seen = seen_letters(text);
  for (const auto& [name, brief] : kLongNames)
    replace_all(seen, seen_letters(name), seen_letters(brief));
  return seen;
}

// Whether the letters of a name are ours, where a '?' may be one of ours, or none that is seen.
bool looks_like(std::string_view text, std::string_view ours) {
  const std::string letters = read_name(text), expected = read_name(ours);
  if (static_cast<std::size_t>(std::ranges::count(letters, '?')) * 2 > letters.size()) return false;
  std::vector<bool> reached(expected.size() + 1);  // by the letters so far: so many of ours
  reached[0] = true;
  for (const char letter : letters) {
    std::vector<bool> next(reached.size());
    for (std::size_t i = 0; i < reached.size(); ++i) {
      if (!reached[i]) continue;
      if (letter == '?') next[i] = true;
      if (i < expected.size() && (letter == '?' || letter == expected[i])) next[i + 1] = true;
    }
    reached = std::move(next);
  }
  return reached.back() && !letters.empty();
}

}  // namespace

std::optional<OwnProtocol> own_protocol(const Run& run) {
  static const std::vector<ProtocolSpec> ours = [] {
    std::vector<ProtocolSpec> specs;
    for (const std::string& name : protocol_names()) specs.push_back(load_protocol(name));
    return specs;
  }();
  const Json& protocol = run.manifest.content.at("protocol");
  if (std::ranges::find(ours, text_at(protocol, "/sha256"), &ProtocolSpec::sha256) != ours.end())
    return std::nullopt;
  const std::string id = text_at(protocol, "/id"), title = text_at(protocol, "/title");
  // Whoever names a protocol of ours expects ours, whatever version the other says it is.
  auto taken = std::ranges::find(ours, id, &ProtocolSpec::id);
  if (taken == ours.end())
    taken = std::ranges::find_if(ours, [&](const ProtocolSpec& spec) {
      return looks_like(id, spec.id) || looks_like(title, spec.title);
    });
  const bool alike = taken != ours.end();
  // Of another name: that of ours which reads the same lists.
  if (!alike)
    taken = std::ranges::find_if(ours, [&](const ProtocolSpec& spec) {
      return spec.reader_name == text_at(protocol, "/reader") &&
             spec.reader->options() == protocol.value("reader_options", Json());
    });
  if (taken == ours.end())
    return OwnProtocol{
        "A protocol of the submitter's own: not one of facebench's, by the SHA-256 "
        "of its text.",
        false};
  return OwnProtocol{
      fmt::format("Not facebench's {} ({}, version {}): a protocol of the submitter's own, whose "
                  "text has another SHA-256.",
                  taken->id, taken->title, taken->version),
      alike};
}

}  // namespace facebench
