#pragma once

#include <functional>

#include "common.h"
#include "facebench/core/registry.h"

// What C++ holds as structs, as Python's dicts: each key with the member, or the function of the
// struct, that is its value.
namespace facebench {

template <class Item>
void set_keys(py::dict&, const Item&) {}

template <class Item, class Get, class... Rest>
void set_keys(py::dict& d, const Item& item, const char* key, const Get& get, const Rest&... rest) {
  d[key] = std::invoke(get, item);
  set_keys(d, item, rest...);
}

// dict_of(point, "x", &Point::x, "y", &Point::y)
template <class Item, class... Keys>
py::dict dict_of(const Item& item, const Keys&... keys) {
  py::dict d;
  set_keys(d, item, keys...);
  return d;
}

template <class Items, class... Keys>
py::list dicts_of(const Items& items, const Keys&... keys) {
  py::list result;
  for (const auto& item : items) result.append(dict_of(item, keys...));
  return result;
}

// A table's entries: name, doc, and the keys.
template <class Entry, class... Keys>
py::list table_list(const Table<Entry>& table, const Keys&... keys) {
  return dicts_of(table.entries(), "name", &Entry::name, "doc", &Entry::doc, keys...);
}

// {key: value} of a range: both are members, or functions, of an item.
template <class Items, class Key, class Value>
py::dict dict_by(const Items& items, const Key& key, const Value& value) {
  py::dict result;
  for (const auto& item : items) result[py::str(std::invoke(key, item))] = std::invoke(value, item);
  return result;
}
template <class Pairs>
py::dict dict_of_pairs(const Pairs& pairs) {
  py::dict result;
  for (const auto& [key, value] : pairs) result[py::str(key)] = value;
  return result;
}

// A table as {name: doc}.
template <class Entry>
py::dict table_docs(const Table<Entry>& table) {
  return dict_by(table.entries(), &Entry::name, &Entry::doc);
}

}  // namespace facebench
