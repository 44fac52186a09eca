#pragma once

#include <initializer_list>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace facebench {

// The known name nearest to `name` by edit distance without regard to case; where none is near
// enough to be meant (distance above a third of the longer length), the shortest that begins with
// `name` (of three letters or more); else "".
std::string closest_name(std::string_view name, std::span<const std::string> known);

// Text for an unknown name: `unknown protocol 'lwf'; did you mean 'lfw'? (known: lfw, ...)`.
std::string unknown_name_message(std::string_view kind, std::string_view name,
                                 std::span<const std::string> known);

// Where `name` stands among the known ones. Throws std::invalid_argument with "did you mean" where
// it is none of them.
std::size_t index_of_name(std::string_view kind, std::string_view name,
                          std::span<const std::string> known);

// The name, which `member` is, of each item.
template <class Item, class Member>
std::vector<std::string> names_of(const std::vector<Item>& items, Member member) {
  std::vector<std::string> names;
  for (const Item& item : items) names.push_back(item.*member);
  return names;
}
// The item whose `member` is that name. Throws std::invalid_argument with "did you mean".
template <class Item, class Member>
const Item& item_named(std::string_view kind, const std::vector<Item>& items, Member member,
                       std::string_view name) {
  for (const Item& item : items)
    if (item.*member == name) return item;
  throw std::invalid_argument(unknown_name_message(kind, name, names_of(items, member)));
}

// One family of named things (detectors, networks, losses, conventions, ...). Each family is an
// explicit table in one source file; Entry has a member `std::string name` and, by convention, a
// one-line `std::string doc`.
template <class Entry>
class Table {
 public:
  Table(std::string kind, std::initializer_list<Entry> entries)
      : kind_(std::move(kind)), entries_(entries) {}
  Table(std::string kind, std::vector<Entry> entries)
      : kind_(std::move(kind)), entries_(std::move(entries)) {}

  const std::string& kind() const { return kind_; }
  const std::vector<Entry>& entries() const { return entries_; }

  std::vector<std::string> names() const { return names_of(entries_, &Entry::name); }
  // Of the entries for which condition(entry) is true.
  template <class Condition>
  std::vector<std::string> names_where(const Condition& condition) const {
    std::vector<std::string> result;
    for (const Entry& e : entries_)
      if (condition(e)) result.push_back(e.name);
    return result;
  }

  const Entry* find(std::string_view name) const {
    for (const Entry& e : entries_)
      if (e.name == name) return &e;
    return nullptr;
  }

  // The entry called `name`. Throws std::invalid_argument with "did you mean" where there is none.
  const Entry& at(std::string_view name) const {
    return item_named(kind_, entries_, &Entry::name, name);
  }

 private:
  std::string kind_;
  std::vector<Entry> entries_;
};

}  // namespace facebench
