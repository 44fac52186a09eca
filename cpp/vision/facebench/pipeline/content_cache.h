#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <string_view>

#include "facebench/core/job.h"
#include "facebench/datasets/dataset.h"
#include "facebench/datasets/pack.h"
#include "facebench/embedding/batch_model.h"
#include "facebench/embedding/extractor.h"
#include "facebench/io/json.h"
#include "facebench/pipeline/preparation.h"

namespace facebench {

// Files in a folder, found by all that decides their bytes: FOLDER/KIND/KEY-DATA.h5, where KEY is
// the SHA-256 of that and DATA the file's own. Several processes may use one folder: whoever comes
// second waits for the first. A file is there as a whole or not at all, and is taken only if its
// bytes still have the hash in its name; one that has not is removed and made again.
class ContentCache {
 public:
  // An empty path: nothing is kept or taken.
  explicit ContentCache(std::filesystem::path folder) : folder_(std::move(folder)) {}

  struct Entry {
    bool taken = false;  // from the folder
    std::string sha256;  // of the file
  };

  // Gives `out` the bytes that belong to the key: the file of the folder, linked or copied, or what
  // `make` writes to `out`, which is kept then. `key` null: not to be kept. Where `make` is
  // stopped, the next call of it finds again what it had written to the file `unfinished` (empty
  // where nothing is kept). Throws Error where the folder cannot be written, and what `make`
  // throws.
  Entry take_or_make(std::string_view kind, const Json& key, const std::filesystem::path& out,
                     const std::function<void(const std::filesystem::path& unfinished)>& make,
                     const Job& job) const;

 private:
  std::filesystem::path folder_;
};

// All that decides the bytes of a pack: this build of the library, the data set's names, labels and
// image files (which are read and hashed), detector, selection, crop, options. Null where the
// detector's description does not decide its faces: nothing is kept then.
Json pack_key(const Dataset& dataset, const Preparation& preparation, const PackOptions& options,
              const Job& job);

// The same for embeddings of the pack with that hash. Null for a model without a hash (a Python
// function, a network in memory): nothing says what it computes.
Json embeddings_key(const BatchModelInfo& model, const std::string& pack_sha256,
                    const ExtractOptions& options);

}  // namespace facebench
