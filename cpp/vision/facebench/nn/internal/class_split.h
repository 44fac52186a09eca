#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

#include "facebench/nn/communicator.h"

namespace facebench {

// What a step needs of classes that are split over processes: which rows of the class weights this
// process computes with, and what the processes tell each other of the logits. Each image's classes
// are those of all processes; the values below are the same on each of them, to the bit.
class ClassSplit {
 public:
  // labels (N) int64: of the images of all processes, in [0, C). This process holds the classes
  // from `first` on; `sampled` (k) int64, ascending, says which rows of them take part in the step;
  // undefined: all, `count`.
  ClassSplit(Communicator& processes, const at::Tensor& labels, std::int64_t first,
             std::int64_t count, const at::Tensor& sampled);

  // (N) int64: the row of the image's true class among those that take part; -1: it is another
  // process's.
  const at::Tensor& rows_of_images() const { return rows_; }
  // (N) bool: whether it is this process's; and the images of which it is, int64.
  const at::Tensor& held() const { return held_; }
  const at::Tensor& held_images() const { return held_images_; }

  // The rows of a class parameter (its first extent, as many for each class) that take part. Its
  // gradient is sparse where they are a sample.
  at::Tensor rows(const at::Tensor& parameter) const;

  // values (N, 1), of which those of held() count: the same from the process that holds the class.
  at::Tensor from_holders(const at::Tensor& values) const;

  // The sum of a value over the processes, with the gradient of this one's part.
  at::Tensor summed(const at::Tensor& part) const;

  // What the terms of an image's other classes come to.
  enum class Sum : std::uint8_t {
    logarithm,  // of the sum of exp(term)
    plain,
  };
  // Over an image's classes except the true one, of all processes: as ClassTiles::Others, `winner`
  // (N) int64 a class, -1 where there is no other.
  struct Others {
    at::Tensor sum, highest, winner;  // sum (N) float64
  };
  // Of this process's classes (winner: the place of one among those that take part) to that of all.
  Others over_processes(const Others& own, Sum kind) const;
  // (N) int64: the class with the highest logit, the first of equals; true_logit (N) is that of the
  // true class without margin.
  at::Tensor predicted(const at::Tensor& true_logit, const Others& others) const;

 private:
  Communicator& processes_;
  at::Tensor labels_, sampled_, rows_, held_, held_images_;
  std::int64_t first_, count_;
};

}  // namespace facebench
