#include "facebench/detection/detect_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <stdexcept>
#include <utility>

#include "facebench/core/error.h"
#include "facebench/core/utf8.h"
#include "facebench/detection/given.h"
#include "facebench/images/decode.h"
#include "facebench/images/encode.h"
#include "facebench/io/file.h"
#include "facebench/io/image_files.h"
#include "facebench/io/json.h"
#include "facebench/io/machine_error.h"

namespace facebench {
namespace {

namespace fs = std::filesystem;

// The last name of a path, also where it ends with '/' or is a dot.
fs::path folder_name(const fs::path& folder) { return fs::weakly_canonical(folder).filename(); }

// `path` with an ending that an image can be written under.
fs::path drawing_name(const fs::path& path) {
  return has_image_ending(path) ? path : fs::path(path).concat(".png");
}

bool lies_below(const fs::path& path, const fs::path& folder) {
  return std::mismatch(folder.begin(), folder.end(), path.begin(), path.end()).first ==
         folder.end();
}

class Lister {
 public:
  Lister(const fs::path& draw, bool alone, const Job& job)
      : draw_(draw), canonical_draw_(fs::weakly_canonical(draw)), alone_(alone), job_(job) {}

  void add_file(const fs::path& path) {
    if (const ImageArchiveFormat* format = find_image_archive(path)) return add(path, *format);
    add(path.string(), path, fs::weakly_canonical(path), path.filename());
  }

  void add_folder(const fs::path& folder) {
    ImageFolder folder_images = list_images(folder, job_);
    const fs::path canonical = fs::weakly_canonical(folder);
    const bool inside =
        !draw_.empty() && canonical != canonical_draw_ && lies_below(canonical_draw_, canonical);
    const fs::path drawn = inside ? canonical_draw_.lexically_relative(canonical) : fs::path();
    std::size_t images = 0;
    for (const fs::path& image : folder_images.images) {
      if (inside && lies_below(image, drawn)) continue;
      ++images;
      add(alone_ ? image.generic_string() : (folder / image).generic_string(), folder / image,
          canonical / image, alone_ ? image : folder_name(folder) / image);
    }
    if (images == 0)
      fail(folder.string(), "there is no image in this folder or below it",
           known_image_formats() + " files are looked for");
    for (const std::vector<fs::path>* passed : {&folder_images.others, &folder_images.litter})
      for (const fs::path& path : *passed) result_.skipped.push_back(folder / path);
  }

  ImageFiles finish() {
    for (const auto& [drawing, name] : drawings_)
      if (const auto image = images_.find(drawing); image != images_.end())
        throw std::invalid_argument(
            fmt::format("the drawing of {} would replace the image {}: draw into another folder",
                        printable(name), printable(drawing)));
    return std::move(result_);
  }

 private:
  void add(const fs::path& path, const ImageArchiveFormat& format) {
    const auto archive = format.open(path, {});
    const fs::path canonical = fs::weakly_canonical(path);
    for (std::int64_t i = 0; i < archive->size(); ++i) {
      if (i % 4096 == 0) job_.check();
      const fs::path name = archive->name(i);
      add(alone_ ? name.string() : (path / name).string(), {path, archive, i}, canonical / name,
          alone_ ? name : path.filename() / name);
    }
  }

  void add(std::string name, ImageLocation image, const fs::path& canonical,
           const fs::path& place) {
    ImageFile file{std::move(name), std::move(image), {}};
    if (!draw_.empty()) {
      const fs::path target = drawing_name(place);
      file.drawing = draw_ / target;
      images_.insert(canonical.string());
      const auto [at, fresh] = drawings_.emplace((canonical_draw_ / target).string(), file.name);
      if (!fresh)
        throw std::invalid_argument(fmt::format(
            "the drawings of {} and {} would both be {}: draw them in two calls",
            printable(at->second), printable(file.name), printable(file.drawing.string())));
    }
    result_.files.push_back(std::move(file));
  }

  const fs::path& draw_;
  const fs::path canonical_draw_;
  const bool alone_;
  const Job& job_;
  ImageFiles result_;
  std::set<std::string> images_;
  std::map<std::string, std::string> drawings_;  // where -> of which name
};

// The image, or none; and then what is wrong with the file.
std::optional<Image> read(const ImageFile& file, const DecodeOptions& decode,
                          DetectedFile& result) {
  result.name = file.name;
  std::optional<Image> image;
  const auto fault = fault_in_file([&] {
    if (!file.image.exists()) {
      result.status = SampleStatus::missing;
      result.reason = "no such file";
    } else {
      const std::string bytes = file.image.read();
      const auto encoded = std::as_bytes(std::span(bytes));
      image = decode_image(encoded, decode, file.image.where());
      result.orientation = exif_orientation(encoded);
    }
  });
  if (fault) {
    result.status = SampleStatus::unreadable;
    result.reason = printable(*fault);
  }
  return image;
}

void finish(const ImageFile& file, const Image& image, std::vector<Face>&& faces,
            DetectedFile& result) {
  result.faces = std::move(faces);
  if (result.faces.empty()) result.status = SampleStatus::no_face;
  if (!file.drawing.empty()) write_image(file.drawing, draw_faces(image, result.faces));
}

std::string csv_rows(const DetectedFile& file) {
  std::string rows;
  for (const Face& face : file.faces) rows += face_csv_record(file.name, face);
  return rows.empty() ? faceless_csv_record(file.name, file.status) : rows;
}

std::string json_row(const DetectedFile& file) {
  Json faces = Json::array();
  for (const Face& face : file.faces) faces.push_back(face_json(face));
  Json row = {{"name", printable(file.name)},
              {"status", sample_status_name(file.status)},
              {"faces", faces}};
  if (!file.reason.empty()) row["reason"] = file.reason;
  return canonical_json(row);
}

}  // namespace

ImageFiles list_image_files(std::span<const fs::path> paths, const fs::path& draw, const Job& job) {
  Lister lister(draw, paths.size() == 1, job);
  for (const fs::path& path : paths) {
    std::error_code error;
    if (fs::is_directory(path, error))
      lister.add_folder(path);
    else
      lister.add_file(path);
  }
  return lister.finish();
}

void detect_files(const Detector& detector, std::span<const ImageFile> files,
                  const std::function<void(DetectedFile&&)>& take, const Job& job,
                  const DecodeOptions& decode) {
  const auto count = static_cast<std::int64_t>(files.size());
  std::vector<std::string> names;
  for (const ImageFile& file : files) names.push_back(file.name);
  detector.check_samples(names);
  Stage stage(job, "detecting", count, "images");
  Job calls = job;
  calls.threads = detector.callers(job);
  std::mutex mutex;
  std::map<std::int64_t, DetectedFile> waiting;  // for one that comes before them
  std::int64_t next = 0;
  parallel_for(
      count, calls,
      [&](std::int64_t i, int) {
        DetectedFile result;
        if (const std::optional<Image> image = read(files[i], decode, result))
          finish(files[i], *image, detector.detect(*image, files[i].name), result);
        const std::lock_guard lock(mutex);
        waiting.emplace(i, std::move(result));
        while (!waiting.empty() && waiting.begin()->first == next) {
          DetectedFile first = std::move(waiting.begin()->second);
          waiting.erase(waiting.begin());
          take(std::move(first));  // where it throws, `next` stays, and nothing more is taken
          ++next;
        }
      },
      &stage);
}

std::vector<DetectedFile> detect_files(const Detector& detector, std::span<const ImageFile> files,
                                       const Job& job, const DecodeOptions& decode) {
  std::vector<DetectedFile> result;
  detect_files(
      detector, files, [&](DetectedFile&& f) { result.push_back(std::move(f)); }, job, decode);
  return result;
}

const Table<FaceFormat>& face_formats() {
  static const std::string header = face_csv_header();
  static const Table<FaceFormat> table(
      "format of faces",
      {{"csv", "one row a face; the detector 'given' reads it", header, "", "", csv_rows},
       {"json", "a list, one object a file", "[\n", ",\n", "\n]\n", json_row}});
  return table;
}

DetectionSummary detect_to_file(const Detector& detector, std::span<const ImageFile> files,
                                const fs::path& out, std::string_view format, const Job& job,
                                const DecodeOptions& decode) {
  const FaceFormat& f = face_formats().at(format);
  AtomicFile atomic(out);
  std::ofstream stream(atomic.temporary(), std::ios::binary);
  const auto check = [&] {
    if (!stream) fail(out.string(), "cannot be written", "Is the disk full?");
  };
  DetectionSummary summary;
  stream << f.begin;
  detect_files(
      detector, files,
      [&](DetectedFile&& file) {
        if (summary.images++ > 0) stream << f.between;
        stream << f.record(file);
        check();
        summary.faces += static_cast<std::int64_t>(file.faces.size());
        summary.tagged += file.orientation != 1;
        ++summary.counts[static_cast<std::size_t>(file.status)];
        if (file.status != SampleStatus::ok) summary.failures.push_back(std::move(file));
      },
      job, decode);
  stream << f.end;
  stream.close();
  check();
  atomic.commit();
  return summary;
}

}  // namespace facebench
