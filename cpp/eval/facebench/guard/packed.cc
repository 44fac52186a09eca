#include "facebench/io/internal/packed.h"

#include "facebench/io/text.h"

namespace facebench {
namespace {

constexpr int kDeepestPacked = 102;  // parse_json() reads 100

std::uint64_t kind_number(Json::value_t kind) { return static_cast<std::uint64_t>(kind); }

}  // namespace

void Packed::add(const Json& value) {
  add(kind_number(value.type()));
  switch (value.type()) {
    case Json::value_t::boolean:
      return add(std::uint64_t{value.get<bool>()});
    case Json::value_t::number_integer:
      return add(static_cast<std::uint64_t>(value.get<std::int64_t>()));
    case Json::value_t::number_unsigned:
      return add(value.get<std::uint64_t>());
    case Json::value_t::number_float:
      return add(value.get<double>());
    case Json::value_t::string:
      return add(std::string_view(value.get_ref<const std::string&>()));
    case Json::value_t::array:
      add(std::uint64_t{value.size()});
      for (const Json& element : value) add(element);
      return;
    case Json::value_t::object:
      add(std::uint64_t{value.size()});
      for (const auto& [key, member] : value.items()) {
        add(std::string_view(key));
        add(member);
      }
      return;
    default:
      return;  // null has no more than its kind; parsed text has no other kinds
  }
}

std::vector<std::string> Packed::texts() {
  std::vector<std::string> texts;
  for (std::uint64_t left = number(); left > 0; --left) texts.push_back(text());
  return texts;
}

Json Packed::json(int depth) {
  if (depth > kDeepestPacked) throw std::length_error("nested too deeply");
  const auto utf8_text = [&] {
    std::string read = text();
    if (!is_utf8(read)) throw std::length_error("not UTF-8");
    return read;
  };
  const std::uint64_t kind = number();
  if (kind == kind_number(Json::value_t::null)) return nullptr;
  if (kind == kind_number(Json::value_t::boolean)) return number() != 0;
  if (kind == kind_number(Json::value_t::number_integer))
    return static_cast<std::int64_t>(number());
  if (kind == kind_number(Json::value_t::number_unsigned)) return number();
  if (kind == kind_number(Json::value_t::number_float)) return real();
  if (kind == kind_number(Json::value_t::string)) return utf8_text();
  if (kind == kind_number(Json::value_t::array)) {
    Json list = Json::array();
    for (std::uint64_t left = number(); left > 0; --left) list.push_back(json(depth + 1));
    return list;
  }
  if (kind == kind_number(Json::value_t::object)) {
    Json object = Json::object();
    for (std::uint64_t left = number(); left > 0; --left) {
      std::string key = utf8_text();
      object[std::move(key)] = json(depth + 1);
    }
    return object;
  }
  throw std::length_error("no kind of JSON");
}

}  // namespace facebench
