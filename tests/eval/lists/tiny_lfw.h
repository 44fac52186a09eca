#pragma once

#include <filesystem>
#include <string>

#include "facebench/core/random.h"
#include "facebench/evaluation/spec.h"
#include "facebench/io/embeddings.h"
#include "facebench/io/file.h"
#include "io/helpers.h"

namespace facebench {

// A folder that holds a tiny list in LFW's format, for as long as the object lives.
class TinyLfw {
 public:
  TinyLfw() {
    std::filesystem::create_directories(root_ / "protocol");
    write(
        "2\t2\n"
        "Ann\t1\t2\nBob\t1\t2\nAnn\t1\tBob\t1\nAnn\t2\tCat\t1\n"
        "Dan\t1\t2\nEve\t1\t2\nDan\t3\tEve\t3\nEve\t1\tFay\t2\n");
  }

  const std::filesystem::path& root() const { return root_.path(); }
  ProtocolSpec spec() const { return load_protocol("lfw"); }
  std::string text() const { return read_file(root_ / "protocol/pairs.txt"); }
  void write(const std::string& text) const { write_file(root_ / "protocol/pairs.txt", text); }
  void replace(const std::string& from, const std::string& to) const {
    std::string all = text();
    write(all.replace(all.find(from), from.size(), to));
  }
  // Random vectors that lean towards one direction a person.
  EmbeddingSet embeddings(const TrialSet& t) const {
    EmbeddingSet e;
    e.dim = 8;
    e.names = t.names;
    e.status.assign(t.names.size(), SampleStatus::ok);
    for (std::size_t i = 0; i < t.names.size(); ++i) {
      Random noise(7, "image", {i});
      Random person(7, "person", {static_cast<std::uint64_t>(t.identity[i])});
      for (int k = 0; k < e.dim; ++k)
        e.values.push_back(static_cast<float>(person.normal() + 0.7 * noise.normal()));
    }
    return e;
  }

 private:
  TemporaryFolder root_;
};

}  // namespace facebench
