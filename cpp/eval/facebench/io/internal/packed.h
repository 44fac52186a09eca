#pragma once

// Numbers and texts, one after the other, as a confined child and its parent send them; for
// readers of files.

#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "facebench/io/json.h"

namespace facebench {

class Packed {
 public:
  Packed() = default;
  explicit Packed(std::string bytes) : bytes_(std::move(bytes)) {}
  const std::string& bytes() const { return bytes_; }

  void add(std::uint64_t value) { add_raw(value); }
  void add(double value) { add_raw(value); }
  void add(std::string_view text) {
    add(std::uint64_t{text.size()});
    bytes_ += text;
  }
  void add(const std::vector<std::string>& texts) {
    add(std::uint64_t{texts.size()});
    for (const std::string& text : texts) add(std::string_view(text));
  }
  void add(const Json& value);

  // What was added, in the same order. Throw std::length_error where the bytes are no such thing:
  // they end too early, or values are nested deeper than 100.
  std::uint64_t number() { return take_raw<std::uint64_t>(); }
  double real() { return take_raw<double>(); }
  std::string text() { return std::string(take(number())); }
  std::vector<std::string> texts();
  Json json() { return json(0); }
  bool at_end() const { return next_ == bytes_.size(); }

 private:
  template <class T>
  void add_raw(T value) {
    bytes_.append(reinterpret_cast<const char*>(&value), sizeof(value));
  }
  template <class T>
  T take_raw() {
    T value{};
    std::memcpy(&value, take(sizeof(value)).data(), sizeof(value));
    return value;
  }
  std::string_view take(std::uint64_t size) {
    if (size > bytes_.size() - next_) throw std::length_error("cut short");
    const std::string_view part = std::string_view(bytes_).substr(next_, size);
    next_ += size;
    return part;
  }
  Json json(int depth);

  std::string bytes_;
  std::size_t next_ = 0;
};

}  // namespace facebench
