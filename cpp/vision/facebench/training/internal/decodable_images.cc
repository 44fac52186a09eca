#include "facebench/training/internal/decodable_images.h"

#include <ATen/Functions.h>
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <span>
#include <system_error>
#include <utility>

#include "facebench/core/error.h"
#include "facebench/images/decode.h"
#include "facebench/io/file.h"
#include "facebench/io/json.h"
#include "facebench/io/sha256.h"
#include "facebench/io/text.h"

namespace facebench {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kNamed = 10;  // in messages

// A file as the system knows it; -1 where it is none of its own.
struct FileState {
  std::int64_t bytes = -1, changed = -1;
  bool operator==(const FileState&) const = default;
};

FileState state_of(const fs::path& path) {
  std::error_code error;
  if (!fs::is_regular_file(path, error)) return {};
  const auto bytes = static_cast<std::int64_t>(fs::file_size(path, error));
  const auto changed = fs::last_write_time(path, error).time_since_epoch().count();
  return error ? FileState{} : FileState{bytes, static_cast<std::int64_t>(changed)};
}

struct ImageState {
  FileState file;
  std::int64_t hash = 0;  // of the encoded bytes: the first 64 bits of their SHA-256
  bool decodes = false;
};

using Record = std::map<std::string, ImageState, std::less<>>;

// One line an image: hash, bytes, time of change, 1 where it decodes, name as JSON.
std::string line_of(const std::string& name, const ImageState& s) {
  return fmt::format("{:016x} {} {} {} {}\n", static_cast<std::uint64_t>(s.hash), s.file.bytes,
                     s.file.changed, s.decodes ? 1 : 0, Json(name).dump());
}

// Lines that are not such lines are passed over: their images are decoded again.
Record read_record(const fs::path& path) {
  Record record;
  std::error_code error;
  if (path.empty() || !fs::is_regular_file(path, error)) return record;
  const MappedFile file(path);
  const std::string_view text(reinterpret_cast<const char*>(file.bytes().data()),
                              file.bytes().size());
  for (std::size_t at = 0, end; (end = text.find('\n', at)) != std::string_view::npos;
       at = end + 1) {
    const char *first = text.data() + at, *const last = text.data() + end;
    const auto number = [&](auto& value, int base) {
      const auto [stop, failure] = std::from_chars(first, last, value, base);
      if (failure != std::errc() || stop == last || *stop != ' ') return false;
      first = stop + 1;
      return true;
    };
    ImageState s;
    std::uint64_t hash = 0;
    int decodes = 0;
    if (!number(hash, 16) || !number(s.file.bytes, 10) || !number(s.file.changed, 10) ||
        !number(decodes, 10))
      continue;
    const Json name = Json::parse(first, last, nullptr, /*allow_exceptions=*/false);
    if (!name.is_string()) continue;
    s.hash = static_cast<std::int64_t>(hash);
    s.decodes = decodes == 1;
    record[name.get<std::string>()] = s;
  }
  return record;
}

ImageState examined(const Sample& sample, const FileState& file, const ImageState* known) {
  if (known && file.bytes >= 0 && known->file == file) return *known;
  ImageState s{file, 0, false};
  try {
    const std::string bytes = sample.image.read();
    std::uint64_t hash = 0;
    const std::string hex = sha256_hex(bytes);
    std::from_chars(hex.data(), hex.data() + 16, hash, 16);
    s.hash = static_cast<std::int64_t>(hash);
    if (known && known->hash == s.hash) {
      s.decodes = known->decodes;
    } else {
      decode_image(std::as_bytes(std::span(bytes)), {}, sample.image.where());
      s.decodes = true;
    }
  } catch (const Error&) {  // it is left out, and named
  }
  return s;
}

std::vector<ImageState> examine(const std::vector<Sample>& samples, const Record& record,
                                const Job& job, Communicator& communicator) {
  const auto n = static_cast<std::int64_t>(samples.size());
  std::map<fs::path, FileState> archives;  // many images lie in one
  for (const Sample& s : samples)
    if (s.image.archive()) archives.try_emplace(s.image.path());
  for (auto& [path, state] : archives) state = state_of(path);
  std::vector<ImageState> states(samples.size());
  const std::int64_t rank = communicator.rank(), ranks = communicator.size();
  const std::int64_t own = (n - rank + ranks - 1) / ranks;
  {
    Stage stage(job, "checking images", own, "images");
    parallel_for(
        own, job,
        [&](std::int64_t k, int) {
          const auto i = static_cast<std::size_t>(rank + k * ranks);
          const Sample& s = samples[i];
          const auto known = record.find(s.id);
          states[i] = examined(
              s, s.image.archive() ? archives.at(s.image.path()) : state_of(s.image.path()),
              known == record.end() ? nullptr : &known->second);
        },
        &stage);
  }
  if (ranks > 1) {
    // Each row is one process's, the others have zeros there.
    at::Tensor table = at::zeros({n, 4}, at::TensorOptions(at::kLong));
    auto* row = table.data_ptr<std::int64_t>();
    for (std::int64_t i = rank; i < n; i += ranks) {
      const ImageState& s = states[static_cast<std::size_t>(i)];
      const std::int64_t values[] = {s.file.bytes, s.file.changed, s.hash, s.decodes};
      std::ranges::copy(values, row + 4 * i);
    }
    communicator.all_reduce(std::span(&table, 1));
    for (std::int64_t i = 0; i < n; ++i, row += 4)
      states[static_cast<std::size_t>(i)] = {{row[0], row[1]}, row[2], row[3] == 1};
  }
  return states;
}

}  // namespace

DecodableImages::DecodableImages(const TrainingSet& data, const fs::path& record_path,
                                 const std::optional<std::set<std::string>>& left_out,
                                 const Job& job, Communicator& communicator)
    : data_(data) {
  const auto* images = dynamic_cast<const DecodedImages*>(data.images);
  if (!images) return;
  const std::vector<Sample>& samples = images->dataset().samples;
  Record record = read_record(record_path);
  const std::vector<ImageState> states = examine(samples, record, job, communicator);

  std::vector<bool> out(samples.size());
  std::string lines;
  for (std::size_t i = 0; i < samples.size(); ++i) {
    const std::string& name = samples[i].id;
    const bool began_without = left_out && left_out->contains(name);
    out[i] = began_without || !states[i].decodes;
    if (out[i] && !left_out) undecodable_.push_back(name);
    if (!out[i]) hashes_.push_back(states[i].hash);
    if (!left_out) lines += line_of(name, states[i]);
    if (left_out && !record.empty()) {
      const auto known = record.find(name);
      if (!began_without && (known == record.end() || known->second.hash != states[i].hash))
        different_.push_back(name + (known == record.end() ? " (new)" : " (changed)"));
    }
  }
  if (left_out) {
    undecodable_.assign(left_out->begin(), left_out->end());
    recorded_ = static_cast<std::int64_t>(record.size());
    for (const Sample& s : samples) record.erase(s.id);
    for (const auto& [name, state] : record)
      if (!left_out->contains(name)) different_.push_back(name + " (gone)");
  } else if (!record_path.empty() && communicator.rank() == 0) {
    write_file(record_path, lines);
  }
  std::ranges::sort(undecodable_);
  if (std::ranges::find(out, true) == out.end()) return;
  if (std::ranges::find(out, false) == out.end())
    fail(images->dataset().root.string(),
         fmt::format("none of the {} images can be decoded", samples.size()));

  own_ = images->without(out);
  set_ = training_set(*own_);
  set_.preparation = data.preparation;
  set_.excluded = data.excluded;
  set_.notes = data.notes;
  set_.name = data.name;
  std::size_t k = 0;
  bool excludes = false;
  for (std::size_t i = 0; i < samples.size(); ++i) {
    if (out[i]) continue;
    if (data.labels.at(i) != samples[i].label) set_.labels[k] = data.labels[i];
    excludes |= set_.labels[k] < 0;
    ++k;
  }
  if (!excludes) set_.excluded = nullptr;  // the list names images alone that are left out anyway
}

std::string DecodableImages::note() const {
  if (undecodable_.empty()) return {};
  return fmt::format(
      "{} image{} cannot be decoded and {} left out: {}. Fetch {} again and train into another "
      "folder to learn from {}.",
      undecodable_.size(), undecodable_.size() == 1 ? "" : "s",
      undecodable_.size() == 1 ? "is" : "are", first_names(undecodable_, kNamed),
      undecodable_.size() == 1 ? "it" : "them", undecodable_.size() == 1 ? "it" : "them");
}

std::string DecodableImages::differences() const {
  if (different_.empty()) return {};
  return fmt::format("{} of {} images differ from those it began with: {}", different_.size(),
                     recorded_, first_names(different_, kNamed));
}

}  // namespace facebench
