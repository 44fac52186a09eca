#pragma once

#include <memory>
#include <string>
#include <utility>

#include "facebench/core/options.h"
#include "facebench/lists/reader.h"

namespace facebench {

// A reader whose keys in the table [reader] are the fields of a described struct.
template <class Fields>
class OptionsReader : public TrialReader {
 public:
  using Options = Fields;
  explicit OptionsReader(Fields options) : options_(std::move(options)) {}
  Json options() const override { return options_to_json(options_); }

 protected:
  Fields options_;
};

// The entry of a reader that is made of its keys, as they stand or as `read` takes them.
template <class Reader, class Read>
TrialReaderEntry reader_entry(std::string name, std::string doc, Read read) {
  return {std::move(name), std::move(doc),
          [read](const TomlTable& table) { return std::make_unique<Reader>(read(table)); }};
}
template <class Reader>
TrialReaderEntry reader_entry(std::string name, std::string doc) {
  return reader_entry<Reader>(std::move(name), std::move(doc), [](const TomlTable& table) {
    return read_options<typename Reader::Options>(table);
  });
}

}  // namespace facebench
