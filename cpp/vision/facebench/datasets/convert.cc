#include "facebench/datasets/convert.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <numeric>
#include <set>
#include <stdexcept>

#include "facebench/archives/archive.h"
#include "facebench/archives/archive_writer.h"
#include "facebench/core/error.h"
#include "facebench/core/options.h"
#include "facebench/datasets/decoded_images.h"
#include "facebench/datasets/pack.h"
#include "facebench/images/decode.h"
#include "facebench/io/sha256.h"

namespace facebench {
namespace {

// The number that each person's label is written as.
std::vector<std::int64_t> label_numbers(const Dataset& dataset, std::vector<std::string>& notes) {
  std::vector<std::int64_t> numbers;
  for (const std::string& name : dataset.label_names) {
    std::int64_t number = -1;
    const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
    if (error != std::errc() || end != name.data() + name.size() || number < 0 ||
        fmt::format("{}", number) != name) {
      notes.push_back(
          fmt::format("People are called by names: labels are their places from 0 on ('{}' is {}).",
                      dataset.label_names.front(), 0));
      numbers.resize(dataset.label_names.size());
      std::iota(numbers.begin(), numbers.end(), 0);
      return numbers;
    }
    numbers.push_back(number);
  }
  return numbers;
}

// The samples in the order in which they are written.
std::vector<std::size_t> order_of(const Dataset& dataset, bool by_person,
                                  std::vector<std::string>& notes) {
  std::vector<std::size_t> order(dataset.samples.size());
  std::iota(order.begin(), order.end(), 0u);
  const auto label = [&](std::size_t i) { return dataset.samples[i].label; };
  if (!by_person || std::ranges::is_sorted(order, {}, label)) return order;
  std::ranges::stable_sort(order, {}, label);
  notes.emplace_back("Images are written person by person: the format asks for it.");
  return order;
}

// What is opened to read it back: shards as the pattern of those that were written.
std::filesystem::path path_of_written(const std::filesystem::path& out,
                                      const std::vector<std::filesystem::path>& files) {
  const std::string text = out.string();
  const std::size_t open = text.find('{'), close = text.find('}', open);
  if (open == std::string::npos || close == std::string::npos) return out;
  if (files.size() == 1) return files.front();
  const std::size_t after = text.size() - close - 1;
  std::string numbers;
  for (const std::filesystem::path& file : files) {
    const std::string name = file.string();
    numbers += (numbers.empty() ? "" : ",") + name.substr(open, name.size() - after - open);
  }
  return text.substr(0, open) + "{" + numbers + "}" + text.substr(close + 1);
}

ConvertSummary convert_to_pack(const Dataset& dataset, const std::filesystem::path& out,
                               const Job& job) {
  const ImageShape shape = DecodedImages(dataset).shape();
  CropOptions whole;
  whole.height = shape.height;
  whole.width = shape.width;
  const PackSummary packed = pack_dataset(dataset, nullptr, "", whole, {}, out, job);
  ConvertSummary summary;
  summary.files = {packed.path};
  summary.images = packed.images;
  summary.people = static_cast<std::int64_t>(dataset.label_names.size());
  summary.tree_sha256 = packed.tree_sha256;
  if (const std::size_t bad = packed.failures.size(); bad > 0) {
    summary.notes.push_back(fmt::format("{} images cannot be decoded; the pack says which.", bad));
  }
  return summary;
}

}  // namespace

void ConvertOptions::describe(OptionsBuilder<ConvertOptions>& o) {
  o.name("ConvertOptions", "How a data set is written as an archive.");
  o.field("shard_images", &ConvertOptions::shard_images,
          "images in each shard of a pattern without an end, {000..}", 1, 1'000'000'000);
}

ConvertSummary convert_dataset(const Dataset& dataset, const std::filesystem::path& out,
                               const ConvertOptions& options, const Job& job) {
  check_options(options);
  if (out.extension() == ".h5") return convert_to_pack(dataset, out, job);
  const ImageArchiveWriterFormat& format = image_archive_writer_for(out);
  if (dataset.samples.empty()) fail(dataset.root.string(), "the data set has no images");
  ConvertSummary summary;
  summary.images = static_cast<std::int64_t>(dataset.samples.size());
  const std::vector<std::int64_t> numbers = label_numbers(dataset, summary.notes);
  const std::vector<std::size_t> order = order_of(dataset, format.by_person, summary.notes);
  std::set<std::int32_t> people;
  for (const Sample& sample : dataset.samples) people.insert(sample.label);
  summary.people = static_cast<std::int64_t>(people.size());

  ImageArchiveTarget target{out, summary.images, options.shard_images, 0, 0, summary.people};
  {
    const ImageLocation& first = dataset.samples[order.front()].image;
    const std::string bytes = first.read();
    const Image image = decode_image(std::as_bytes(std::span(bytes)), {}, first.where());
    target.height = image.height;
    target.width = image.width;
  }
  const auto writer = format.make(target);
  std::vector<std::int64_t> labels;
  Sha256 source;
  {
    Stage stage(job, "write", summary.images, "images");
    for (const std::size_t i : order) {
      const Sample& sample = dataset.samples[i];
      const std::string bytes = sample.image.read();
      if (bytes.empty()) fail(sample.image.where(), "the image has no bytes");
      labels.push_back(numbers[static_cast<std::size_t>(sample.label)]);
      writer->add(labels.back(), bytes);
      source.update(sha256_hex(bytes) + "\n");
      if (labels.size() % 64 == 0) stage.update(static_cast<std::int64_t>(labels.size()));
    }
  }
  summary.source_sha256 = source.hex();
  summary.files = writer->finish();

  const auto written = open_image_archive(path_of_written(out, summary.files));
  Sha256 back;
  Stage stage(job, "read back", summary.images, "images");
  const auto differs = [&](const std::string& what) {
    fail(out.string(), "read back, " + what, "Is the disk in order?");
  };
  if (written->size() != summary.images) differs(fmt::format("it has {} images", written->size()));
  for (std::int64_t i = 0; i < summary.images; ++i) {
    back.update(sha256_hex(written->read(i)) + "\n");
    const auto k = static_cast<std::size_t>(i);
    const auto equals_one_before = [&](std::int64_t own, std::int64_t before) {
      return (written->label(i) == written->label(i - 1)) == (own == before);
    };
    const bool same = format.labelled ? written->label(i) == labels[k]
                                      : k % 2 == 0 || equals_one_before(labels[k], labels[k - 1]);
    if (!same) differs(fmt::format("the label of image {} is another", i));
    if (i % 64 == 0) stage.update(i);
  }
  summary.written_sha256 = back.hex();
  if (summary.written_sha256 != summary.source_sha256) differs("its images are others");
  return summary;
}

}  // namespace facebench
