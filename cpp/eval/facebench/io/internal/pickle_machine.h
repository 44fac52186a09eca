#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace facebench {

// Reads the values of a pickle without Python: a stack machine that knows the opcodes of data
// (numbers, texts, bytes, lists, tuples) of protocols 0 to 5, and of all that a pickle can call the
// few names below, each of which means bytes here. Nothing is imported or run.
//   numpy.ndarray, numpy.dtype; numpy.core.multiarray (and numpy._core) _reconstruct, scalar;
//   numpy.core.numeric (and numpy._core) _frombuffer; _codecs.encode; builtins.bytearray
// Source: CPython Lib/pickletools.py; numpy/_core/src/multiarray/methods.c array_reduce.
class PickleMachine {
 public:
  enum class Kind : std::uint8_t {
    none,
    number,
    text,
    bytes,
    list,
    tuple,
    global,
    type,
    array,
    mark
  };
  using Ref = std::uint32_t;
  struct Value {
    Kind kind = Kind::none;
    bool truth = false;       // a number that is True or False
    std::int64_t number = 0;  // of global: a row of the table; of array: bytes of an element
    std::string_view bytes;   // text (UTF-8), bytes, data of an array, code of a type ("u1")
    std::vector<Ref> items;   // list, tuple; of array: its type
    std::vector<std::int64_t> shape;  // of array
  };

  // Throws Error "WHERE: byte N: ..." for damage, for an opcode that is not read, and for any other
  // name, which the message tells. The values point into `bytes`, which must outlive this object.
  PickleMachine(std::span<const std::byte> bytes, std::string_view where);

  const Value& result() const { return value(result_); }
  const Value& value(Ref ref) const { return values_[ref]; }

 private:
  friend struct PickleOpcodes;
  [[noreturn]] void refuse(std::string_view what, std::string_view advice = {}) const;
  std::string_view take(std::uint64_t count);
  std::uint64_t number(int bytes);
  std::string_view line();
  Ref add(Value value);
  void push(Ref ref);
  Ref pop();
  std::vector<Ref> pop_to_mark();
  void push_items(Kind kind, std::vector<Ref> items);
  void append_to_list(std::vector<Ref> items);
  void push_bytes(Kind kind, std::string_view bytes) { push(add({.kind = kind, .bytes = bytes})); }
  void push_number(std::int64_t number) { push(add({.kind = Kind::number, .number = number})); }
  void memoize(std::uint64_t key);
  void recall(std::uint64_t key);
  void step(unsigned char opcode);
  bool step_constant(unsigned char opcode);
  bool step_text(unsigned char opcode);
  bool step_structure(unsigned char opcode);
  void step_call(unsigned char opcode);

  void push_global(std::string_view module, std::string_view name);
  void call();
  void build();
  Ref make_array(const std::vector<Ref>& shape, Ref type, std::string_view data);
  std::string_view own(std::string text);
  std::string_view from_latin_1(std::string_view utf8);

  std::span<const std::byte> bytes_;
  std::string where_;
  std::uint64_t at_ = 0, opcode_at_ = 0;
  std::uint64_t most_values_ = 0;
  std::deque<Value> values_;
  std::deque<std::string> owned_;
  std::vector<Ref> stack_;
  std::unordered_map<std::uint64_t, Ref> memo_;
  Ref result_ = 0;
  bool stopped_ = false;
};

}  // namespace facebench
