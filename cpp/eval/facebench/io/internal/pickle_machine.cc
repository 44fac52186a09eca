#include "facebench/io/internal/pickle_machine.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>

#include "facebench/core/error.h"

namespace facebench {
namespace {

using Kind = PickleMachine::Kind;

constexpr std::size_t kDeepestStack = 1 << 22;

enum class Meaning { reconstruct, scalar, ndarray, dtype, frombuffer, encode, bytearray };

struct KnownGlobal {
  std::string_view module, name;
  Meaning meaning;
};
constexpr KnownGlobal kGlobals[] = {
    {"numpy.core.multiarray", "_reconstruct", Meaning::reconstruct},
    {"numpy._core.multiarray", "_reconstruct", Meaning::reconstruct},
    {"numpy.core.multiarray", "scalar", Meaning::scalar},
    {"numpy._core.multiarray", "scalar", Meaning::scalar},
    {"numpy", "ndarray", Meaning::ndarray},
    {"numpy", "dtype", Meaning::dtype},
    {"numpy.core.numeric", "_frombuffer", Meaning::frombuffer},
    {"numpy._core.numeric", "_frombuffer", Meaning::frombuffer},
    {"_codecs", "encode", Meaning::encode},
    {"builtins", "bytearray", Meaning::bytearray},
    {"__builtin__", "bytearray", Meaning::bytearray},
};

// Printable, and not longer than a line.
std::string shown(std::string_view text) {
  std::string out;
  for (const char c : text.substr(0, 80)) out += c >= 32 && c < 127 ? c : '?';
  return out;
}

bool is_latin_1(std::string_view encoding) { return encoding == "latin1" || encoding == "latin-1"; }

// 2, 4 or 8 bytes of an array's element as a whole number; the codes of numpy's types.
int size_of_type(std::string_view code) {
  if (!code.empty() && std::string_view("<>|=").find(code.front()) != std::string_view::npos)
    code.remove_prefix(1);
  if (code.size() != 2 || std::string_view("biu").find(code[0]) == std::string_view::npos) return 0;
  const int size = code[1] - '0';
  return size == 1 || size == 2 || size == 4 || size == 8 ? size : 0;
}

}  // namespace

PickleMachine::PickleMachine(std::span<const std::byte> bytes, std::string_view where)
    : bytes_(bytes), where_(where), most_values_((1 << 16) + bytes.size() / 8) {
  // Shared by all that are equal: a list of a million of them is a million references.
  // Protocols 2 and later begin with their number, the older ones with a tuple's or list's opcode.
  if (bytes.empty() ||
      std::string_view("\x80(]l)").find(static_cast<char>(bytes[0])) == std::string_view::npos)
    fail(where_, "is not a pickle, by its first byte", "Is it a file of another kind?");
  add({.kind = Kind::none});
  add({.kind = Kind::number, .truth = true, .number = 0});
  add({.kind = Kind::number, .truth = true, .number = 1});
  add({.kind = Kind::mark});
  while (!stopped_) {
    opcode_at_ = at_;
    step(static_cast<unsigned char>(take(1)[0]));
  }
  if (at_ < bytes_.size())
    fail(at_byte(where_, at_),
         fmt::format("the pickle ends here, and {} bytes follow", bytes_.size() - at_),
         "Were files joined? Give each alone.");
}

void PickleMachine::refuse(std::string_view what, std::string_view advice) const {
  fail(at_byte(where_, opcode_at_), what, advice);
}

std::string_view PickleMachine::take(std::uint64_t count) {
  if (count > bytes_.size() - at_)
    refuse(
        fmt::format("{} bytes are announced, {} are left in the file", count, bytes_.size() - at_),
        "The file is cut off or no pickle.");
  const std::string_view taken(reinterpret_cast<const char*>(bytes_.data()) + at_, count);
  at_ += count;
  return taken;
}

std::uint64_t PickleMachine::number(int bytes) {
  std::uint64_t value = 0;
  std::memcpy(&value, take(static_cast<std::uint64_t>(bytes)).data(),
              static_cast<std::size_t>(bytes));
  return value;
}

std::string_view PickleMachine::line() {
  const std::string_view rest(reinterpret_cast<const char*>(bytes_.data()) + at_,
                              bytes_.size() - at_);
  const std::size_t end = rest.find('\n');
  if (end == std::string_view::npos) refuse("a line without an end");
  at_ += end + 1;
  return rest.substr(0, end);
}

PickleMachine::Ref PickleMachine::add(Value value) {
  if (values_.size() >= most_values_)
    refuse("more values than images can be in such a file", "It is not a list of images.");
  values_.push_back(std::move(value));
  return static_cast<Ref>(values_.size() - 1);
}

void PickleMachine::push(Ref ref) {
  if (stack_.size() >= kDeepestStack) refuse("more values on the stack than are accepted");
  stack_.push_back(ref);
}

PickleMachine::Ref PickleMachine::pop() {
  if (stack_.empty()) refuse("the stack is empty: the pickle is damaged");
  const Ref top = stack_.back();
  stack_.pop_back();
  return top;
}

std::vector<PickleMachine::Ref> PickleMachine::pop_to_mark() {
  for (std::size_t i = stack_.size(); i-- > 0;) {
    if (value(stack_[i]).kind != Kind::mark) continue;
    std::vector<Ref> items(stack_.begin() + static_cast<long>(i) + 1, stack_.end());
    stack_.resize(i);
    return items;
  }
  refuse("no mark on the stack: the pickle is damaged");
}

void PickleMachine::push_items(Kind kind, std::vector<Ref> items) {
  push(add({.kind = kind, .items = std::move(items)}));
}

void PickleMachine::append_to_list(std::vector<Ref> items) {
  if (stack_.empty() || value(stack_.back()).kind != Kind::list)
    refuse("appends to what is not a list: the pickle is damaged");
  std::vector<Ref>& list = values_[stack_.back()].items;
  list.insert(list.end(), items.begin(), items.end());
}

void PickleMachine::memoize(std::uint64_t key) {
  if (stack_.empty()) refuse("the stack is empty: the pickle is damaged");
  memo_[key] = stack_.back();
}

void PickleMachine::recall(std::uint64_t key) {
  const auto found = memo_.find(key);
  if (found == memo_.end()) refuse(fmt::format("nothing is kept under number {}", key));
  push(found->second);
}

std::string_view PickleMachine::own(std::string text) {
  owned_.push_back(std::move(text));
  return owned_.back();
}

// Python 3 writes bytes in protocol 2 as the text with the same character numbers.
std::string_view PickleMachine::from_latin_1(std::string_view utf8) {
  std::string out;
  out.reserve(utf8.size());
  for (std::size_t i = 0; i < utf8.size(); ++i) {
    const auto c = static_cast<unsigned char>(utf8[i]);
    if (c < 0x80) {
      out += utf8[i];
      continue;
    }
    if ((c != 0xc2 && c != 0xc3) || i + 1 == utf8.size() ||
        (static_cast<unsigned char>(utf8[i + 1]) & 0xc0) != 0x80)
      refuse("a text that stands for bytes has a character beyond them");
    out += static_cast<char>((c & 3) << 6 | (utf8[++i] & 0x3f));
  }
  return own(std::move(out));
}

void PickleMachine::push_global(std::string_view module, std::string_view name) {
  for (std::size_t i = 0; i < std::size(kGlobals); ++i)
    if (kGlobals[i].module == module && kGlobals[i].name == name) {
      push(add({.kind = Kind::global, .number = static_cast<std::int64_t>(i)}));
      return;
    }
  refuse(fmt::format("the pickle asks for '{}.{}', which is not read", shown(module), shown(name)),
         "Unpickling would run it. A set of images needs nothing but numpy's arrays: do not open "
         "this file in Python.");
}

PickleMachine::Ref PickleMachine::make_array(const std::vector<Ref>& shape, Ref type,
                                             std::string_view data) {
  const Value& element = value(type);
  const int size = element.kind == Kind::type ? size_of_type(element.bytes) : 0;
  if (size == 0) refuse("an array whose type is not one of whole numbers");
  Value array{.kind = Kind::array, .number = size, .bytes = data, .items = {type}};
  std::uint64_t count = 1;
  for (const Ref extent : shape) {
    const Value& e = value(extent);
    if (e.kind != Kind::number || e.number < 0 ||
        __builtin_mul_overflow(count, static_cast<std::uint64_t>(e.number), &count))
      refuse("an array's shape is not a list of sizes");
    array.shape.push_back(e.number);
  }
  if (count * static_cast<std::uint64_t>(size) != data.size() || count > data.size())
    refuse(
        fmt::format("an array of {} elements of {} bytes in {} bytes", count, size, data.size()));
  return add(std::move(array));
}

void PickleMachine::call() {
  const Value& arguments = value(pop());
  const Value& callee = value(pop());
  if (callee.kind != Kind::global || arguments.kind != Kind::tuple)
    refuse("calls what is not a name: the pickle is damaged");
  const std::vector<Ref>& a = arguments.items;
  const auto is = [&](std::size_t i, Kind kind) {
    return i < a.size() && value(a[i]).kind == kind;
  };
  switch (kGlobals[callee.number].meaning) {
    case Meaning::reconstruct:
      if (!is(0, Kind::global) || kGlobals[value(a[0]).number].meaning != Meaning::ndarray) break;
      push(add({.kind = Kind::array}));
      return;
    case Meaning::dtype:
      if (!is(0, Kind::text) && !is(0, Kind::bytes)) break;
      push(add({.kind = Kind::type, .bytes = value(a[0]).bytes}));
      return;
    case Meaning::scalar:
      if (!is(0, Kind::type) || !is(1, Kind::bytes)) break;
      push(make_array({}, a[0], value(a[1]).bytes));
      return;
    case Meaning::frombuffer:
      if (!is(0, Kind::bytes) || !is(1, Kind::type) || !is(2, Kind::tuple)) break;
      push(make_array(value(a[2]).items, a[1], value(a[0]).bytes));
      return;
    case Meaning::bytearray:
      if (a.size() == 1 && is(0, Kind::bytes)) {
        push(a[0]);
        return;
      }
      [[fallthrough]];  // of old (text, "latin-1")
    case Meaning::encode:
      if (!is(0, Kind::text) || (a.size() > 1 && !is_latin_1(value(a[1]).bytes))) break;
      push_bytes(Kind::bytes, from_latin_1(value(a[0]).bytes));
      return;
    case Meaning::ndarray:
      break;
  }
  refuse(
      fmt::format("'{}' is called with arguments that do not fit", kGlobals[callee.number].name));
}

// The state of an array: (version, shape, type, Fortran order, bytes); of a type it is byte order
// and sizes, which are not needed for single bytes.
void PickleMachine::build() {
  const Ref state_ref = pop();
  if (stack_.empty()) refuse("the stack is empty: the pickle is damaged");
  const Value& state = value(state_ref);
  const Ref target = stack_.back();
  if (state.kind != Kind::tuple) refuse("sets the state of an object by what is not a tuple");
  const std::vector<Ref>& s = state.items;
  if (value(target).kind == Kind::type) {
    if (s.size() < 2 || value(s[1]).kind > Kind::bytes || value(s[1]).bytes == ">")
      refuse("an array's type is not little-endian");
    return;
  }
  if (value(target).kind != Kind::array || s.size() != 5 || value(s[1]).kind != Kind::tuple ||
      (value(s[4]).kind != Kind::bytes && value(s[4]).kind != Kind::text))
    refuse("sets the state of what is not an array");
  std::string_view data = value(s[4]).bytes;
  if (value(s[4]).kind == Kind::text) data = from_latin_1(data);
  const Ref built = make_array(value(s[1]).items, s[2], data);
  values_[target] = value(built);
}

}  // namespace facebench
