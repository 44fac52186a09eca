#include "facebench/io/verification_pack.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "facebench/core/error.h"
#include "facebench/io/file.h"
#include "facebench/io/internal/pickle_machine.h"
#include "facebench/io/internal/unfold.h"

namespace facebench {
namespace {

using Value = PickleMachine::Value;
using ValueKind = PickleMachine::Kind;
constexpr const char* kExpectedPack =
    "Expected a pickle of (images, same), as insightface's test sets are.";

bool is_sequence(const Value& value) {
  return value.kind == ValueKind::list || value.kind == ValueKind::tuple;
}

// A number of any size in memory, 0 or 1.
bool is_truth(std::string_view bytes, bool& truth) {
  truth = bytes.front() == 1;
  return (bytes.front() == 0 || truth) &&
         std::ranges::all_of(bytes.substr(1), [](char c) { return c == 0; });
}

bool is_truth(const Value& value, bool& truth) {
  if (value.kind == ValueKind::number) {
    truth = value.number == 1;
    return truth || value.number == 0;
  }
  return value.kind == ValueKind::array && !value.bytes.empty() &&
         static_cast<std::int64_t>(value.bytes.size()) == value.number &&
         is_truth(value.bytes, truth);
}

}  // namespace

// What holds the bytes.
struct VerificationPack::Memory {
  MappedFile file;
  std::string unfolded;
  std::unique_ptr<PickleMachine> machine;  // texts that it decoded
};

VerificationPack::VerificationPack(VerificationPack&&) noexcept = default;
VerificationPack::~VerificationPack() = default;

VerificationPack::VerificationPack(const std::filesystem::path& path)
    : memory_(std::make_unique<Memory>()) {
  memory_->file = MappedFile(path);
  const auto bytes = memory_->file.bytes();
  constexpr std::string_view xz(
      "\xfd"
      "7zXZ\0",
      6);
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  if (!text.starts_with(xz)) {
    read(bytes, path.string());
  } else {
    memory_->unfolded = unfold_xz(bytes, path.string());
    read(std::as_bytes(std::span(memory_->unfolded)), path.string());
  }
}

VerificationPack::VerificationPack(std::span<const std::byte> bytes, std::string_view where)
    : memory_(std::make_unique<Memory>()) {
  read(bytes, where);
}

void VerificationPack::read(std::span<const std::byte> bytes, std::string_view where) {
  if (bytes.empty()) fail(where, "the file is empty");
  memory_->machine = std::make_unique<PickleMachine>(bytes, where);
  const PickleMachine& machine = *memory_->machine;
  const Value& top = machine.result();
  if (!is_sequence(top) || top.items.size() != 2)
    fail(where, "is not a pair of images and labels", kExpectedPack);
  const Value &bins = machine.value(top.items[0]), &labels = machine.value(top.items[1]);
  if (!is_sequence(bins)) fail(where, "the images are not a list", kExpectedPack);
  images_.reserve(bins.items.size());
  for (const PickleMachine::Ref ref : bins.items) {
    const Value& image = machine.value(ref);
    const bool array = image.kind == ValueKind::array && image.number == 1;
    if (image.kind != ValueKind::bytes && !array)
      fail(where, fmt::format("image {} is neither bytes nor an array of bytes", images_.size()),
           kExpectedPack);
    if (array && std::ranges::count_if(image.shape, [](auto extent) { return extent != 1; }) > 1)
      fail(where,
           fmt::format("image {} is an array of {}: pixels, not the bytes of an image file",
                       images_.size(), fmt::join(image.shape, "x")),
           "Encode it, as PNG say.");
    if (image.bytes.empty()) fail(where, fmt::format("image {} has no bytes", images_.size()));
    images_.push_back(image.bytes);
  }
  const auto add = [&](bool known, bool truth) {
    if (!known)
      fail(where, fmt::format("the label of pair {} is neither true nor false", same_.size()),
           kExpectedPack);
    same_.push_back(truth);
  };
  bool truth = false;
  if (is_sequence(labels)) {
    for (const PickleMachine::Ref ref : labels.items) {
      const bool known = is_truth(machine.value(ref), truth);
      add(known, truth);
    }
  } else if (labels.kind == ValueKind::array && labels.number > 0) {
    const auto size = static_cast<std::size_t>(labels.number);
    for (std::size_t at = 0; at < labels.bytes.size(); at += size) {
      const bool known = is_truth(labels.bytes.substr(at, size), truth);
      add(known, truth);
    }
  } else {
    fail(where, "the labels are not a list", kExpectedPack);
  }
  if (images_.size() != 2 * same_.size())
    fail(where, fmt::format("{} images for {} pairs", images_.size(), same_.size()),
         "Each pair has two images.");
  if (same_.empty()) fail(where, "there are no pairs");
}

std::string VerificationPack::name(std::int64_t image) const {
  const std::size_t digits = std::max<std::size_t>(6, fmt::format("{}", images_.size() - 1).size());
  return fmt::format("{:0{}}", image, digits);
}

bool is_verification_pack(const std::filesystem::path& path) {
  return has_ending(path, ".bin") || has_ending(path, ".bin.xz");
}

std::string verification_pack_bytes(std::span<const std::string> images,
                                    const std::vector<bool>& same) {
  if (images.size() != 2 * same.size())
    throw std::invalid_argument(
        fmt::format("{} images for {} pairs: each has two", images.size(), same.size()));
  std::string out("\x80\x03", 2);
  const auto number = [&](std::uint32_t value) {
    out.append(reinterpret_cast<const char*>(&value), sizeof value);
  };
  out += "](";
  for (const std::string& image : images) {
    if (image.size() > 0xffffffffu) throw std::invalid_argument("an image of more than 4 GiB");
    out += 'B';
    number(static_cast<std::uint32_t>(image.size()));
    out += image;
  }
  out += "e](";
  for (const bool s : same) out += s ? '\x88' : '\x89';
  return out += "e\x86.";
}

}  // namespace facebench
