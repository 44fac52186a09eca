// What each opcode of a pickle does to the machine. Source: CPython Lib/pickletools.py.

#include <fmt/format.h>

#include <charconv>
#include <cstdint>
#include <cstring>

#include "facebench/core/utf8.h"
#include "facebench/io/internal/pickle_machine.h"

namespace facebench {
namespace {

// A Python string literal without its quotes; false where it is damaged.
bool unescape(std::string_view literal, std::string& out) {
  if (literal.size() < 2 || literal.front() != literal.back() ||
      (literal.front() != '\'' && literal.front() != '"'))
    return false;
  literal = literal.substr(1, literal.size() - 2);
  constexpr std::string_view names = "\\'\"ntrabvf", meanings = "\\'\"\n\t\r\a\b\v\f";
  for (std::size_t i = 0; i < literal.size(); ++i) {
    if (literal[i] != '\\') {
      out += literal[i];
      continue;
    }
    if (++i == literal.size()) return false;
    if (const std::size_t known = names.find(literal[i]); known != std::string_view::npos) {
      out += meanings[known];
      continue;
    }
    unsigned value = 0;
    if (literal[i] != 'x' || i + 2 >= literal.size() ||
        std::from_chars(&literal[i + 1], &literal[i + 3], value, 16).ptr != &literal[i + 3])
      return false;
    out += static_cast<char>(value);
    i += 2;
  }
  return true;
}

// Python's raw-unicode-escape as UTF-8: Latin-1, and \uXXXX or \UXXXXXXXX for all that a line
// cannot hold. false where it is damaged.
bool unescape_unicode(std::string_view line, std::string& out) {
  for (std::size_t i = 0; i < line.size(); ++i) {
    const bool escape = line[i] == '\\' && i + 1 < line.size();
    const std::size_t digits = !escape ? 0 : line[i + 1] == 'u' ? 4 : line[i + 1] == 'U' ? 8 : 0;
    std::uint32_t c = static_cast<unsigned char>(line[i]);
    if (digits > 0) {
      const char* first = line.data() + i + 2;
      if (line.size() - i - 2 < digits ||
          std::from_chars(first, first + digits, c, 16).ptr != first + digits || c > 0x10ffff)
        return false;
      i += 1 + digits;
    }
    append_utf8(c, out);
  }
  return is_utf8(out);  // half a pair of UTF-16 is none
}

constexpr PickleMachine::Ref kNoneValue = 0, kFalseValue = 1, kTrueValue = 2, kMarkValue = 3;

}  // namespace

void PickleMachine::step(unsigned char opcode) {
  if (!step_constant(opcode) && !step_text(opcode) && !step_structure(opcode)) step_call(opcode);
}

bool PickleMachine::step_constant(unsigned char opcode) {
  switch (opcode) {
    case 0x80:  // PROTO
      if (const std::uint64_t protocol = number(1); protocol > 5)
        refuse(fmt::format("protocol {} of pickle is not known", protocol));
      return true;
    case 0x95:  // FRAME
      if (number(8) > bytes_.size() - at_) refuse("a frame is longer than the file");
      return true;
    case 'N':
      push(kNoneValue);
      return true;
    case 0x88:
      push(kTrueValue);
      return true;
    case 0x89:
      push(kFalseValue);
      return true;
    case 'J':
      push_number(static_cast<std::int32_t>(number(4)));
      return true;
    case 'K':
      push_number(static_cast<std::int64_t>(number(1)));
      return true;
    case 'M':
      push_number(static_cast<std::int64_t>(number(2)));
      return true;
    case 0x8a: {  // LONG1
      const auto size = static_cast<int>(number(1));
      if (size > 8) refuse("a whole number of more than 8 bytes");
      std::uint64_t value = size == 0 ? 0 : number(size);
      if (size > 0 && size < 8 && (value >> (8 * size - 1)) != 0) value |= ~0ull << (8 * size);
      push_number(static_cast<std::int64_t>(value));
      return true;
    }
    case 'I':
    case 'L': {  // decimal; of old also 00 and 01 for truth
      std::string_view text = line();
      if (opcode == 'I' && (text == "00" || text == "01")) {
        push(text == "01" ? kTrueValue : kFalseValue);
        return true;
      }
      if (text.ends_with('L')) text.remove_suffix(1);
      std::int64_t value = 0;
      const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
      if (error != std::errc() || end != text.data() + text.size()) refuse("a damaged number");
      push_number(value);
      return true;
    }
    default:
      return false;
  }
}

bool PickleMachine::step_text(unsigned char opcode) {
  switch (opcode) {
    case 'T':  // BINSTRING: Python 2's str, which is bytes
    case 'B':  // BINBYTES
      push_bytes(Kind::bytes, take(number(4)));
      return true;
    case 'U':  // SHORT_BINSTRING
    case 'C':  // SHORT_BINBYTES
      push_bytes(Kind::bytes, take(number(1)));
      return true;
    case 0x8e:  // BINBYTES8
    case 0x96:  // BYTEARRAY8
      push_bytes(Kind::bytes, take(number(8)));
      return true;
    case 'X':  // BINUNICODE
      push_bytes(Kind::text, take(number(4)));
      return true;
    case 0x8c:  // SHORT_BINUNICODE
      push_bytes(Kind::text, take(number(1)));
      return true;
    case 0x8d:  // BINUNICODE8
      push_bytes(Kind::text, take(number(8)));
      return true;
    case 'S': {  // STRING
      std::string text;
      if (!unescape(line(), text)) refuse("a damaged text");
      push_bytes(Kind::bytes, own(std::move(text)));
      return true;
    }
    case 'V': {  // UNICODE, as Python 3 writes all bytes in protocol 0
      std::string text;
      if (!unescape_unicode(line(), text)) refuse("a damaged text");
      push_bytes(Kind::text, own(std::move(text)));
      return true;
    }
    default:
      return false;
  }
}

bool PickleMachine::step_structure(unsigned char opcode) {
  switch (opcode) {
    case '(':
      push(kMarkValue);
      return true;
    case '0':
      pop();
      return true;
    case '1':
      pop_to_mark();
      return true;
    case '2': {
      const Ref top = pop();
      push(top);
      push(top);
      return true;
    }
    case ']':
      push_items(Kind::list, {});
      return true;
    case 'l':
      push_items(Kind::list, pop_to_mark());
      return true;
    case 'a': {
      const Ref item = pop();
      append_to_list({item});
      return true;
    }
    case 'e':
      append_to_list(pop_to_mark());
      return true;
    case ')':
      push_items(Kind::tuple, {});
      return true;
    case 't':
      push_items(Kind::tuple, pop_to_mark());
      return true;
    case 0x85:
    case 0x86:
    case 0x87: {
      std::vector<Ref> items(opcode - 0x84);
      for (std::size_t i = items.size(); i-- > 0;) items[i] = pop();
      push_items(Kind::tuple, std::move(items));
      return true;
    }
    case 'q':
      memoize(number(1));
      return true;
    case 'r':
      memoize(number(4));
      return true;
    case 0x94:
      memoize(memo_.size());
      return true;
    case 'h':
      recall(number(1));
      return true;
    case 'j':
      recall(number(4));
      return true;
    case 'p':
    case 'g': {
      const std::string_view text = line();
      std::uint64_t key = 0;
      if (std::from_chars(text.data(), text.data() + text.size(), key).ptr !=
          text.data() + text.size())
        refuse("a damaged number");
      opcode == 'p' ? memoize(key) : recall(key);
      return true;
    }
    default:
      return false;
  }
}

void PickleMachine::step_call(unsigned char opcode) {
  switch (opcode) {
    case 'c': {
      const std::string_view module = line();
      push_global(module, line());
      return;
    }
    case 0x93: {  // STACK_GLOBAL
      const Value &name = value(pop()), &module = value(pop());
      push_global(module.bytes, name.bytes);
      return;
    }
    case 'R':
      return call();
    case 'b':
      return build();
    case '.':
      result_ = pop();
      stopped_ = true;
      return;
    case 'i': {  // INST: a name and a call in one
      const std::string_view module = line();
      push_global(module, line());
      break;
    }
    default:
      break;
  }
  refuse(fmt::format("opcode 0x{:02x} of pickle is not read", opcode),
         "Read are lists of images and of truth values, as insightface writes them.");
}

}  // namespace facebench
