#include <algorithm>
#include <limits>
#include <mutex>
#include <stdexcept>
#include <utility>

#include "facebench/io/file.h"
#include "facebench/io/internal/confined_child.h"
#include "facebench/io/internal/hdf5_library.h"
#include "facebench/io/internal/hdf5_source.h"

// The HDF5 library in a child process that has the file in memory.
namespace facebench::hdf5 {
namespace {

enum class Question : std::uint8_t { has, names, facts, read, texts };

// Chunks may be compressed; a file that expands further is an attack, not a data set.
std::uint64_t most_bytes(std::uint64_t file_size) { return 4 * file_size + (1ull << 30); }

ConfinedLimits limits_of(std::uint64_t file_size) {
  return {.memory = 2 * most_bytes(file_size),
          .seconds = 60 + file_size / 20'000'000,  // twice what a slow disk takes
          .answer_bytes = most_bytes(file_size)};
}

constexpr std::uint64_t kMostDimensions = 32;

// The child's side.

Packed pack_facts(const DatasetFacts& facts) {
  Packed out;
  out.add(static_cast<std::uint64_t>(facts.type));
  out.add(facts.elements);
  out.add(std::uint64_t{facts.offset.has_value()});
  out.add(facts.offset.value_or(0));
  out.add(std::uint64_t{facts.shape.size()});
  for (const std::int64_t extent : facts.shape) out.add(static_cast<std::uint64_t>(extent));
  return out;
}

std::string answer(H5Source& source, Packed question) {
  const auto what = static_cast<Question>(question.number());
  const std::string name = question.text();
  Packed out;
  switch (what) {
    case Question::has:
      out.add(std::uint64_t{source.has(name)});
      break;
    case Question::names:
      out.add(source.names(name));
      break;
    case Question::facts:
      return pack_facts(source.facts(name)).bytes();
    case Question::texts:
      out.add(source.read_texts(name));
      break;
    case Question::read: {
      const auto type = static_cast<H5Type>(question.number());
      const std::uint64_t elements = question.number();
      std::string bytes(elements * h5_type_size(type), '\0');
      source.read(name, type, bytes.data(), elements);
      return bytes;
    }
  }
  return out.bytes();
}

// The parent's side, which checks every answer.

class ConfinedSource final : public H5Source {
 private:
  // A question that consists of a name.
  template <class Take>
  auto ask(Question what, std::string_view name, Take&& take) {
    const std::lock_guard lock(mutex_);
    return child_.ask_for(question_of(what, name), where(path_, name), take);
  }

 public:
  ConfinedSource(const std::filesystem::path& path, std::span<const std::byte> image)
      : path_(path),
        file_size_(image.size()),
        child_(path.string(), limits_of(image.size()), [&]() -> ConfinedChild::Answer {
          // std::function copies what it holds.
          std::shared_ptr<H5Source> source = open_image_source(path, image);
          return [source](Packed question) { return answer(*source, std::move(question)); };
        }) {}

  bool has(std::string_view name) override {
    return ask(Question::has, name, [](Packed& p) { return p.number() != 0; });
  }

  std::vector<std::string> names(std::string_view group) override {
    return ask(Question::names, group, [](Packed& p) { return p.texts(); });
  }

  DatasetFacts facts(std::string_view name) override {
    return ask(Question::facts, name, [&](Packed& p) { return take_facts(p); });
  }

  void read(std::string_view name, H5Type type, void* out, std::uint64_t elements) override {
    Packed question = question_of(Question::read, name);
    question.add(static_cast<std::uint64_t>(type));
    question.add(elements);
    const std::lock_guard lock(mutex_);
    child_.ask(question, where(path_, name), out, elements * h5_type_size(type));
  }

  std::vector<std::string> read_texts(std::string_view name) override {
    return ask(Question::texts, name, [](Packed& p) { return p.texts(); });
  }

 private:
  static Packed question_of(Question what, std::string_view name) {
    Packed question;
    question.add(static_cast<std::uint64_t>(what));
    question.add(name);
    return question;
  }

  DatasetFacts take_facts(Packed& p) const {
    DatasetFacts facts;
    const std::uint64_t type = p.number();
    if (type > static_cast<std::uint64_t>(H5Type::other)) throw std::length_error("no type");
    facts.type = static_cast<H5Type>(type);
    facts.elements = p.number();
    const bool has_offset = p.number() != 0;
    const std::uint64_t offset = p.number();
    const std::uint64_t dimensions = p.number();
    if (dimensions > kMostDimensions) throw std::length_error("too many dimensions");
    std::uint64_t elements = 1;
    for (std::uint64_t d = 0; d < dimensions; ++d) {
      const std::uint64_t extent = p.number();
      if (extent > std::numeric_limits<std::int64_t>::max() || !multiply(elements, extent))
        throw std::length_error("too many elements");
      facts.shape.push_back(static_cast<std::int64_t>(extent));
    }
    std::uint64_t bytes = elements;
    if (elements != facts.elements ||
        !multiply(bytes, std::max<std::uint64_t>(h5_type_size(facts.type), 1)) ||
        bytes > most_bytes(file_size_))
      throw std::length_error("too many elements");
    if (has_offset) {
      if (offset > file_size_ || bytes > file_size_ - offset) throw std::length_error("outside");
      facts.offset = offset;
    }
    return facts;
  }

  const std::filesystem::path path_;
  const std::uint64_t file_size_;
  std::mutex mutex_;
  ConfinedChild child_;
};

}  // namespace

std::unique_ptr<H5Source> open_confined_source(const std::filesystem::path& path,
                                               std::span<const std::byte> image) {
  { const Session session; }  // from now on fork() waits until no thread is inside the library
  return std::make_unique<ConfinedSource>(path, image);
}

}  // namespace facebench::hdf5
