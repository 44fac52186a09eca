#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "facebench/core/job.h"
#include "facebench/datasets/decoded_images.h"
#include "facebench/nn/communicator.h"
#include "facebench/training/training_set.h"

namespace facebench {

// The part of a training set whose images can be decoded. Of a pack that is known; images that are
// decoded on the fly are all read and decoded once before the first step, so that none ends the
// training later. Those that cannot be are left out as if they were not there: removing them,
// listing them as excluded or fetching them again changes nothing for a training that goes on.
class DecodableImages {
 public:
  // Collective: each process decodes its share. `record` (may be empty) is a file in which rank 0
  // keeps size, time of change, hash and result of every image; an image for which it holds still
  // is not decoded again. `left_out`: the names that a training which goes on began without; its
  // record stays as it is. `data` must outlive this. Throws Error where no image can be decoded.
  DecodableImages(const TrainingSet& data, const std::filesystem::path& record,
                  const std::optional<std::set<std::string>>& left_out, const Job& job,
                  Communicator& communicator);

  const TrainingSet& set() const { return own_ ? set_ : data_; }
  // Sorted.
  const std::vector<std::string>& undecodable() const { return undecodable_; }
  // Of the file of each image of set(), the first 64 bits of its SHA-256; empty where they are not
  // decoded on the fly.
  const std::vector<std::int64_t>& hashes() const { return hashes_; }
  // A sentence that names some of them; empty where there are none.
  std::string note() const;
  // What is not as the record has it: "2 of 10 images differ: a.png (changed), b.png (gone)"; empty
  // without such images or without a record.
  std::string differences() const;

 private:
  const TrainingSet& data_;
  std::unique_ptr<const DecodedImages> own_;  // null: nothing was left out
  TrainingSet set_;
  std::vector<std::string> undecodable_, different_;
  std::vector<std::int64_t> hashes_;
  std::int64_t recorded_ = 0;
};

}  // namespace facebench
