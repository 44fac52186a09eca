#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <memory>
#include <mutex>
#include <optional>

#include "facebench/core/error.h"
#include "facebench/core/options.h"
#include "facebench/datasets/pack.h"
#include "facebench/datasets/pack_writer.h"
#include "facebench/detection/selection.h"
#include "facebench/images/decode.h"
#include "facebench/images/resize.h"
#include "facebench/io/hdf5.h"
#include "facebench/io/machine_error.h"
#include "facebench/io/sha256.h"
#include "facebench/io/text.h"
#include "facebench/io/tree_hash.h"

namespace facebench {
namespace {

ImageShape crop_shape(const CropOptions& options) {
  const CropOptions resolved = resolve_crop(options);
  return {static_cast<int>(*resolved.height), static_cast<int>(*resolved.width)};
}

// The result for one sample.
struct Row {
  SampleStatus status = SampleStatus::ok;
  std::string reason;
  std::string sha256;
  Face face;
  bool box_outside = false, landmarks_outside = false;
  bool searched = false, crop_sized = false;  // for a face; of the crop's own size
  bool decoded = false, tagged = false;       // its Exif tag asks for it to be turned
  LandmarkDoubt doubt = LandmarkDoubt::none;
  Image image;
};

bool leaves(const Box& box, const Image& image) {
  const float x = std::max(-box.x0, box.x1 - static_cast<float>(image.width));
  const float y = std::max(-box.y0, box.y1 - static_cast<float>(image.height));
  return x > box.width() / 5 || y > box.height() / 5;
}

// Pixel centres have whole coordinates.
bool leaves(const Landmarks& landmarks, const Image& image) {
  return std::any_of(landmarks.begin(), landmarks.end(), [&](const Point& p) {
    return p.x < -.5f || p.y < -.5f || p.x > static_cast<float>(image.width) - .5f ||
           p.y > static_cast<float>(image.height) - .5f;
  });
}

// From file to crop, for one sample; thread-safe.
class Cutter {
 public:
  Cutter(const Detector* detector, std::string_view selection, const CropOptions& crop,
         const PackOptions& options)
      : detector_(detector),
        searches_(detector != nullptr && detector->description().at("detector") != "given"),
        selection_(selection),
        crop_(resolve_crop(crop)),
        shape_(crop_shape(crop)) {
    decode_.max_pixels = options.max_pixels;
    decode_.exif_orientation = options.exif_orientation;
  }

  ImageShape shape() const { return shape_; }
  Json decode_description() const { return options_to_json(decode_); }

  Row cut_out(const Sample& sample) const {
    Row row;
    // Not being allowed to read it is not a property of the data set, and ends the whole.
    if (!sample.image.exists())
      return failed(std::move(row), SampleStatus::missing, "no such file");
    Image image;
    const auto fault = fault_in_file([&] {
      const std::string bytes = sample.image.read();
      row.sha256 = sha256_hex(bytes);
      const auto encoded = std::as_bytes(std::span(bytes));
      image = decode_image(encoded, decode_, sample.id);
      row.decoded = true;
      row.tagged = exif_orientation(encoded) != 1;
    });
    if (fault)
      return failed(std::move(row), SampleStatus::unreadable, plain_reason(*fault, sample));
    if (detector_ == nullptr) return whole(std::move(row), image);
    row.searched = searches_;
    row.crop_sized = searches_ && image.width == shape_.width && image.height == shape_.height;
    return face(std::move(row), image, sample);
  }

 private:
  static Row failed(Row row, SampleStatus status, std::string reason) {
    row.status = status;
    row.reason = std::move(reason);
    row.image = {};
    row.face = {};
    return row;
  }

  // Without the path: the same images anywhere give the same pack.
  static std::string plain_reason(std::string text, const Sample& sample) {
    for (const std::string& prefix : {sample.image.where(), sample.id})
      if (text.starts_with(prefix + ": ")) text.erase(0, prefix.size() + 2);
    return text;
  }

  Row whole(Row row, const Image& image) const {
    row.face.box = {0, 0, static_cast<float>(image.width), static_cast<float>(image.height)};
    row.image =
        image.width == shape_.width && image.height == shape_.height
            ? image
            : resize(image, shape_.width, shape_.height, parse_interpolation(*crop_.interpolation));
    return row;
  }

  Row face(Row row, const Image& image, const Sample& sample) const {
    const std::vector<Face> faces = detector_->detect(image, sample.id);
    const auto chosen = select_face(faces, image.width, image.height, selection_);
    if (!chosen) return failed(std::move(row), SampleStatus::no_face, "no face found");
    Crop crop = crop_face(image, faces[*chosen], crop_);
    if (crop.status != SampleStatus::ok)
      return failed(std::move(row), crop.status, std::move(crop.reason));
    row.face = faces[*chosen];
    row.box_outside = leaves(row.face.box, image);
    row.landmarks_outside = row.face.has_landmarks && leaves(row.face.landmarks, image);
    row.doubt = crop.doubt;
    row.image = std::move(crop.image);
    return row;
  }

  const Detector* detector_;
  bool searches_;  // faces that are given were found elsewhere
  std::string selection_;
  CropOptions crop_;
  ImageShape shape_;
  DecodeOptions decode_;
};

// The columns of a pack that are small enough to be kept until the end.
struct Columns {
  explicit Columns(std::size_t n)
      : name(n),
        label(n),
        status(n),
        box_outside(n),
        landmarks_outside(n),
        searched(n),
        crop_sized(n),
        decoded(n),
        tagged(n),
        doubt(n),
        box(4 * n),
        landmarks(10 * n),
        sha256(n),
        reason(n) {}

  void set(std::size_t i, const Row& row) {
    status[i] = static_cast<std::uint8_t>(row.status);
    reason[i] = row.reason;
    box_outside[i] = row.box_outside;
    landmarks_outside[i] = row.landmarks_outside;
    searched[i] = row.searched;
    crop_sized[i] = row.crop_sized;
    decoded[i] = row.decoded;
    tagged[i] = row.tagged;
    doubt[i] = static_cast<std::uint8_t>(row.doubt);
    sha256[i] = row.sha256.empty() ? std::string(kNoFile) : row.sha256;
    const Box& b = row.face.box;
    std::copy_n(std::array{b.x0, b.y0, b.x1, b.y1}.begin(), 4, box.begin() + 4 * i);
    for (std::size_t k = 0; k < 5; ++k) {
      landmarks[10 * i + 2 * k] = row.face.landmarks[k].x;
      landmarks[10 * i + 2 * k + 1] = row.face.landmarks[k].y;
    }
  }

  std::vector<std::string> name;
  std::vector<std::int32_t> label;
  std::vector<std::uint8_t> status, box_outside, landmarks_outside, searched, crop_sized, decoded,
      tagged, doubt;  // LandmarkDoubt
  std::vector<float> box, landmarks;
  std::vector<std::string> sha256, reason;
};

std::vector<std::uint8_t> hash_bytes(const std::vector<std::string>& hashes) {
  const auto digit = [](char c) { return c <= '9' ? c - '0' : c - 'a' + 10; };
  std::vector<std::uint8_t> bytes;
  bytes.reserve(32 * hashes.size());
  for (const std::string& hash : hashes)
    for (std::size_t k = 0; k < 64; k += 2)
      bytes.push_back(static_cast<std::uint8_t>(digit(hash[k]) * 16 + digit(hash[k + 1])));
  return bytes;
}

OutsideFaces outside_faces(const Columns& columns) {
  OutsideFaces outside;
  for (std::size_t i = 0; i < columns.name.size(); ++i) {
    outside.faces += sample_status_of(columns.status[i]) == SampleStatus::ok;
    outside.boxes += columns.box_outside[i];
    outside.landmarks += columns.landmarks_outside[i];
    if (columns.box_outside[i] + columns.landmarks_outside[i] > 0)
      outside.names.push_back(columns.name[i]);
  }
  return outside;
}

DoubtfulLandmarks doubtful_landmarks(const Columns& columns) {
  DoubtfulLandmarks doubtful;
  for (std::size_t i = 0; i < columns.name.size(); ++i) {
    doubtful.faces += sample_status_of(columns.status[i]) == SampleStatus::ok;
    const auto doubt = static_cast<LandmarkDoubt>(columns.doubt[i]);
    if (doubt == LandmarkDoubt::none) continue;
    ++doubtful.causes[std::string(landmark_doubt_text(doubt))];
    doubtful.names.push_back(columns.name[i]);
  }
  return doubtful;
}

PackSummary summarize(const Columns& columns) {
  PackSummary summary;
  summary.images = static_cast<std::int64_t>(columns.name.size());
  for (std::size_t i = 0; i < columns.name.size(); ++i) {
    const SampleStatus status = sample_status_of(columns.status[i]);
    ++summary.counts[columns.status[i]];
    if (status != SampleStatus::ok)
      summary.failures.push_back({columns.name[i], status, columns.reason[i]});
  }
  summary.outside = outside_faces(columns);
  summary.doubtful_landmarks = doubtful_landmarks(columns);
  summary.crop_sized.images = std::ranges::count(columns.crop_sized, 1);
  summary.crop_sized.decoded = std::ranges::count(columns.searched, 1);
  summary.tagged.images = std::ranges::count(columns.tagged, 1);
  summary.tagged.decoded = std::ranges::count(columns.decoded, 1);
  summary.tree_sha256 = tree_sha256(columns.sha256, columns.name);
  return summary;
}

Json counts_json(const PackSummary& summary) {
  Json counts = Json::object();
  for (int s = 0; s < kSampleStatusCount; ++s)
    counts[std::string(sample_status_name(sample_status_of(s)))] = summary.counts[s];
  return counts;
}

Json failures_json(const PackSummary& summary) {
  Json list = Json::array();
  for (const PackFailure& f : summary.failures)
    list.push_back({{"id", f.id},
                    {"status", std::string(sample_status_name(f.status))},
                    {"reason", f.reason}});
  return list;
}

// What is written when all images are there. `manifest` says how they were made.
PackSummary finish(H5Writer& writer, const std::filesystem::path& out, ImageShape shape,
                   const Columns& columns, Json manifest) {
  PackSummary summary = summarize(columns);
  summary.path = out;
  summary.shape = summary.crop_sized.shape = shape;
  summary.tagged.turned = manifest.at("decode").at("exif_orientation");
  const std::int64_t n = summary.images;
  writer.write<std::int32_t>("/label", columns.label, {n});
  writer.write_texts("/name", columns.name);
  writer.write<float>("/box", columns.box, {n, 4});
  writer.write<float>("/landmarks", columns.landmarks, {n, 5, 2});
  writer.write<std::uint8_t>("/status", columns.status, {n});
  writer.write<std::uint8_t>("/file_sha256", hash_bytes(columns.sha256), {n, 32});
  manifest["counts"] = counts_json(summary);
  manifest["failures"] = failures_json(summary);
  manifest["tree_sha256"] = summary.tree_sha256;
  // Only if there is something to say, so that the bytes of other packs do not change.
  if (const OutsideFaces& o = summary.outside; !o.names.empty())
    manifest["outside"] = {{"boxes", o.boxes}, {"landmarks", o.landmarks}, {"names", o.names}};
  if (const CropSizedImages& c = summary.crop_sized; !crop_sized_warning(c).empty())
    manifest["crop_sized"] = {{"images", c.images}, {"decoded", c.decoded}};
  if (const TaggedImages& t = summary.tagged; t.images > 0)
    manifest["exif_tagged"] = {{"images", t.images}, {"decoded", t.decoded}};
  if (const DoubtfulLandmarks& d = summary.doubtful_landmarks;
      !doubtful_landmarks_warning(d).empty())
    manifest["doubtful_landmarks"] = {{"causes", d.causes}, {"names", d.names}};
  writer.write_json("/manifest", manifest);
  writer.commit();
  return summary;
}

// A shard has what the pack of all is made of, beside what it is itself.
constexpr const char* kFlags = "/shard_flags";  // uint8 (N, 7), the seven columns

void write_flags(H5Writer& writer, const Columns& columns) {
  std::vector<std::uint8_t> flags;
  for (std::size_t i = 0; i < columns.name.size(); ++i)
    flags.insert(flags.end(),
                 {columns.box_outside[i], columns.landmarks_outside[i], columns.searched[i],
                  columns.crop_sized[i], columns.decoded[i], columns.tagged[i], columns.doubt[i]});
  writer.write<std::uint8_t>(kFlags, flags, {static_cast<std::int64_t>(columns.name.size()), 7});
}

PackSummary write_pack(const Dataset& dataset, const Detector* detector, std::string_view selection,
                       const CropOptions& crop, const PackOptions& options,
                       const std::filesystem::path& out, const std::optional<Shard>& shard,
                       const Job& job, const CropReceiver& receiver) {
  check_options(options);
  check_options(crop);
  if (detector != nullptr) selection_rules().at(selection);
  const auto all = static_cast<std::int64_t>(dataset.samples.size());
  if (all == 0)
    fail(dataset.root.string(), "the data set has no images", "There is nothing to pack.");
  if (shard) check_shard(*shard);
  const auto [first, end] = range_of(shard.value_or(Shard{}), all);
  if (first == end)
    throw std::invalid_argument(
        fmt::format("{} shards of {} images: at most one for each", shard->count, all));

  const Cutter cutter(detector, selection, crop, options);
  const ImageShape shape = cutter.shape();
  const std::span<const Sample> samples =
      std::span(dataset.samples)
          .subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(end - first));
  const std::int64_t n = end - first;
  if (detector != nullptr) {
    std::vector<std::string> names;
    for (const Sample& sample : dataset.samples) names.push_back(sample.id);
    detector->check_samples(names);
  }
  Columns columns(samples.size());
  for (std::size_t i = 0; i < samples.size(); ++i) {
    columns.name[i] = samples[i].id;
    columns.label[i] = samples[i].label;
  }

  H5Writer writer(out);
  writer.create_dataset("/images", H5Type::uint8, {n, shape.height, shape.width, 3});
  Job work = job;
  work.threads = pack_workers(detector, job);
  {
    Stage stage(job, receiver.stage, n, "images");
    std::mutex writing;
    parallel_for(
        n, work,
        [&](std::int64_t i, int worker) {
          Row row = cutter.cut_out(samples[static_cast<std::size_t>(i)]);
          columns.set(static_cast<std::size_t>(i), row);
          if (row.image.empty()) row.image = Image(shape.width, shape.height);
          {
            const std::lock_guard lock(writing);
            writer.write_rows<std::uint8_t>("/images", i, row.image.data);
          }
          if (receiver.take && row.status == SampleStatus::ok) receiver.take(i, row.image, worker);
        },
        &stage);
  }

  Json manifest = {
      {"kind", "pack"},
      {"format", 1},
      {"dataset", {{"name", dataset.name}, {"images", n}, {"people", dataset.label_names.size()}}},
      {"label_names", dataset.label_names},
      {"decode", cutter.decode_description()},
      {"detector", detector ? detector->description() : Json{{"detector", "none"}}},
      {"selection", detector ? Json(selection) : Json()},
      {"crop", options_to_json(resolve_crop(crop))},
      {"image", {{"height", shape.height}, {"width", shape.width}}}};
  if (std::string opencv = opencv_of_crop(crop); !opencv.empty())
    manifest["opencv"] = std::move(opencv);
  if (!dataset.excluded.is_null()) manifest["excluded"] = dataset.excluded;
  if (!dataset.damaged.empty()) manifest["damaged"] = dataset.damaged;
  if (!dataset.archive.is_null()) manifest["archive"] = dataset.archive;
  if (dataset.unlabelled > 0) manifest["unlabelled"] = dataset.unlabelled;
  if (shard) {
    manifest["shard"] = {
        {"number", shard->number}, {"count", shard->count}, {"first", first}, {"of", all}};
    write_flags(writer, columns);
  }
  PackSummary summary = finish(writer, out, shape, columns, std::move(manifest));
  summary.damaged = dataset.damaged;
  summary.passed_over = dataset.passed_over;
  summary.notes = dataset.notes;
  return summary;
}

// What the manifest of a shard says of all of them; throws Error where it is none.
struct ShardPlace {
  Shard shard;
  std::int64_t first = 0, of = 0;
};
ShardPlace place_of(const Pack& pack) {
  const Json place = pack.manifest().value("shard", Json());
  for (const char* key : {"number", "count", "first", "of"})
    if (!place.is_object() || !place.contains(key) || !place[key].is_number_integer() ||
        !pack.manifest().value("dataset", Json()).is_object())
      fail(pack.path().string(), "is not a shard of a pack: it is whole, or not facebench's",
           "pack --shard makes shards.");
  return {{place["number"].get<int>(), place["count"].get<int>()},
          place["first"].get<std::int64_t>(),
          place["of"].get<std::int64_t>()};
}

// How the images of a shard were made, as the manifest of all says it.
Json manifest_of_all(const Pack& pack) {
  Json manifest = pack.manifest();
  for (const char* own : {"shard", "counts", "failures", "tree_sha256", "outside", "crop_sized",
                          "exif_tagged", "doubtful_landmarks"})
    manifest.erase(own);
  manifest["dataset"]["images"] = place_of(pack).of;
  return manifest;
}

// Of a shard's rows, which become those from `first` on.
void take_columns(const Pack& pack, std::size_t first, Columns& columns) {
  const H5Reader file(pack.path());
  const auto n = static_cast<std::size_t>(pack.size());
  const auto flags = file.read<std::uint8_t>(kFlags, 2);
  const auto hashes = file.read<std::uint8_t>("/file_sha256", 2);
  std::vector<std::string> reasons;
  for (const Json& failure : pack.manifest().value("failures", Json::array()))
    if (failure.is_object() && failure.value("reason", Json()).is_string())
      reasons.push_back(failure["reason"].get<std::string>());
  const auto failed = static_cast<std::size_t>(
      std::ranges::count_if(pack.statuses(), [](std::uint8_t status) { return status != 0; }));
  if (flags.size() != 7 * n || hashes.size() != 32 * n || reasons.size() != failed)
    fail(pack.path().string(), "the columns of the shard do not fit together",
         "Make the shard again.");
  std::ranges::copy(pack.names(), columns.name.begin() + first);
  std::ranges::copy(pack.labels(), columns.label.begin() + first);
  std::ranges::copy(pack.statuses(), columns.status.begin() + first);
  std::ranges::copy(pack.boxes(), columns.box.begin() + 4 * first);
  std::ranges::copy(pack.all_landmarks(), columns.landmarks.begin() + 10 * first);
  for (std::size_t i = 0, failure = 0; i < n; ++i) {
    const std::size_t row = first + i;
    columns.box_outside[row] = flags[7 * i];
    columns.landmarks_outside[row] = flags[7 * i + 1];
    columns.searched[row] = flags[7 * i + 2];
    columns.crop_sized[row] = flags[7 * i + 3];
    columns.decoded[row] = flags[7 * i + 4];
    columns.tagged[row] = flags[7 * i + 5];
    columns.doubt[row] = flags[7 * i + 6];
    columns.sha256[row] =
        fmt::format("{:02x}", fmt::join(std::span(hashes).subspan(32 * i, 32), ""));
    if (columns.status[row] != 0) columns.reason[row] = reasons[failure++];
  }
}

}  // namespace

void PackOptions::describe(OptionsBuilder<PackOptions>& o) {
  o.name("PackOptions", "How image files become a pack.");
  o.field("max_pixels", &PackOptions::max_pixels,
          "larger images are unreadable; checked before anything is allocated", 1, 2'000'000'000);
  o.field("exif_orientation", &PackOptions::exif_orientation,
          "turn a picture the way its Exif tag says");
}

std::string outside_warning(const OutsideFaces& o) {
  if (static_cast<std::int64_t>(100 * o.names.size()) <= o.faces) return {};
  return fmt::format(
      "{} of {} faces reach beyond their image: {} boxes by more than a fifth of their side, {} "
      "with landmarks outside. See whether they were found in the right place (facebench detect "
      "--draw): {}.",
      o.names.size(), o.faces, o.boxes, o.landmarks, first_names(o.names));
}

std::string crop_sized_warning(const CropSizedImages& sized) {
  if (sized.images == 0 || 20 * sized.images < 19 * sized.decoded) return {};
  return fmt::format(
      "{} of {} images have the crop's own size, {} x {}, and faces were looked for in them again. "
      "If they are crops already, take them whole: --detector none.",
      sized.images, sized.decoded, sized.shape.width, sized.shape.height);
}

std::string tagged_warning(const TaggedImages& tagged) {
  if (tagged.images == 0 || tagged.turned) return {};
  return fmt::format(
      "{} of {} images ask by their Exif tag to be turned, and were taken as they lie: no face is "
      "found in most pictures that lie on their side. --exif-orientation turns them.",
      tagged.images, tagged.decoded);
}

std::string doubtful_landmarks_warning(const DoubtfulLandmarks& d) {
  if (static_cast<std::int64_t>(100 * d.names.size()) <= d.faces) return {};
  std::string causes;
  for (const auto& [cause, count] : d.causes)
    causes += fmt::format("{}{} ({})", causes.empty() ? "" : "; ", cause, count);
  return fmt::format(
      "The landmarks of {} of {} faces do not lie as those of a face: {}. Their crops are turned "
      "or "
      "elsewhere; see them (facebench detect --draw), and put the columns right: {}.",
      d.names.size(), d.faces, causes, first_names(d.names));
}

PackSummary pack_dataset(const Dataset& dataset, const Detector* detector,
                         std::string_view selection, const CropOptions& crop,
                         const PackOptions& options, const std::filesystem::path& out,
                         const Job& job) {
  return pack_dataset(dataset, detector, selection, crop, options, out, job,
                      {.stage = "pack", .take = {}});
}

PackSummary pack_dataset(const Dataset& dataset, const Detector* detector,
                         std::string_view selection, const CropOptions& crop,
                         const PackOptions& options, const std::filesystem::path& out,
                         const Job& job, const CropReceiver& receiver) {
  return write_pack(dataset, detector, selection, crop, options, out, {}, job, receiver);
}

int pack_workers(const Detector* detector, const Job& job) {
  return detector ? detector->callers(job) : job.workers();
}

PackSummary pack_shard(const Dataset& dataset, const Detector* detector, std::string_view selection,
                       const CropOptions& crop, const PackOptions& options, const Shard& shard,
                       const std::filesystem::path& out, const Job& job) {
  return write_pack(dataset, detector, selection, crop, options, out, shard, job,
                    {.stage = "pack", .take = {}});
}

PackSummary merge_packs(std::span<const std::filesystem::path> shards,
                        const std::filesystem::path& out, const Job& job) {
  std::vector<std::unique_ptr<Pack>> packs;
  std::vector<Shard> places;
  for (const std::filesystem::path& path : shards) {
    packs.push_back(std::make_unique<Pack>(path));
    places.push_back(place_of(*packs.back()).shard);
  }
  check_all_shards(places);
  std::ranges::sort(packs, {}, [](const auto& pack) { return place_of(*pack).shard.number; });
  const std::int64_t all = place_of(*packs[0]).of;
  const ImageShape shape = packs[0]->shape();
  Json manifest = manifest_of_all(*packs[0]);
  std::int64_t rows = 0;
  for (const auto& pack : packs) {
    if (manifest_of_all(*pack) != manifest || place_of(*pack).first != rows ||
        pack->shape() != shape)
      fail(pack->path().string(),
           "is of another data set than the first shard, or was made with other options");
    rows += pack->size();
  }
  if (rows != all)
    fail(packs.back()->path().string(), fmt::format("{} images of {} are there", rows, all));

  Columns columns(static_cast<std::size_t>(all));
  H5Writer writer(out);
  writer.create_dataset("/images", H5Type::uint8, {all, shape.height, shape.width, 3});
  Stage stage(job, "merge", all, "images");
  std::int64_t first = 0;
  for (const auto& pack : packs) {
    take_columns(*pack, static_cast<std::size_t>(first), columns);
    for (std::int64_t i = 0; i < pack->size(); ++i, ++first) {
      writer.write_rows<std::uint8_t>("/images", first, pack->image(i));
      if (first % 1024 == 0) stage.update(first);
    }
  }
  return finish(writer, out, shape, columns, std::move(manifest));
}

}  // namespace facebench
