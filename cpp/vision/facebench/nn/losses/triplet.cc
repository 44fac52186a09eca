// Triplet loss: an image (anchor) is to be nearer to another of its class (positive) than to one of
// another class (negative), by a margin, over features of unit length,
//   mean over triplets of max(0, |a - p|^2 - |a - n|^2 + alpha).
// Source: Schroff et al., "FaceNet", CVPR 2015, Eq. 3; the choice of triplets is that of
// select_triplets in facenet's train_tripletloss.py: every pair of images of a class once, the
// first of them as anchor, and one negative out of those that the rule admits; pairs without one
// are left out. In facenet a batch of embeddings is searched and its triplets are trained on in
// smaller batches afterwards; here they are the batch that the step trains on.
//
// Where that leaves no triplet, pairs whose farthest negative is as far as the positive take it, as
// TensorFlow Addons' triplet_semihard_loss does: where a network gives all images the same
// features, the loss is the margin. Of 0 it would look finished.

#include <ATen/core/grad_mode.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "facebench/core/options.h"
#include "facebench/core/random.h"
#include "facebench/nn/losses/parts.h"

namespace facebench {
namespace {

struct TripletOptions {
  double margin = 0.2;
  std::string negatives = "semi_hard";
  std::string pick = "random";

  static void describe(OptionsBuilder<TripletOptions>& o) {
    o.name("TripletOptions", "Distances within triplets of images.");
    o.field("margin", &TripletOptions::margin,
            "by how much a squared distance to another class is to be larger", 0, 4);
    o.choice("negatives", &TripletOptions::negatives,
             "semi_hard: farther than the positive, by less than the margin (FaceNet, section "
             "3.2); all: nearer ones too (facenet's code)",
             {"semi_hard", "all"});
    o.choice("pick", &TripletOptions::pick,
             "which of a pair's negatives: one at random, or the nearest", {"random", "nearest"});
  }
};

class TripletHead : public Head {
 public:
  TripletHead(Description description, const TripletOptions& options)
      : Head(std::move(description)), options_(options) {
    take_whole_batch();
    add_buffer("iteration", at::zeros({}, at::TensorOptions(at::kLong)),
               BufferReduction::broadcast);
  }

 protected:
  Output compute(HeadInput& input) override {
    if (training()) buffer(0).add_(1);
    const at::Tensor unit = normalize_rows(input.features());
    const at::Tensor squares = unit.square().sum(1);
    const at::Tensor distance =
        squares.unsqueeze(0) + squares.unsqueeze(1) - 2 * at::mm(unit, unit.t());
    const Triplets t = choose(distance.detach(), input.labels(), input.place());
    const at::Tensor flat = distance.flatten();
    const at::Tensor larger = flat.index_select(0, t.positive) - flat.index_select(0, t.negative);
    // The sum of none is 0, with a gradient of zeros. Features that are not finite are in no
    // triplet, and the loss is not a number all the same: 0 for finite ones is added.
    const at::Tensor loss = (larger + options_.margin).clamp_min(0).sum() /
                                std::max<double>(1, static_cast<double>(larger.numel())) +
                            0 * squares.detach().sum();
    const at::Tensor logits = nearest(distance.detach(), input.labels());
    return {loss, logits, logits.argmax(1)};
  }

 private:
  // Places in the flat matrix of distances.
  struct Triplets {
    at::Tensor positive, negative;
  };

  Triplets choose(const at::Tensor& distances, const at::Tensor& all_labels, BatchPlace place) {
    const at::Tensor matrix = distances.to(at::kDouble).cpu().contiguous();
    const at::Tensor labels = all_labels.cpu().contiguous();
    const std::int64_t* label = labels.const_data_ptr<std::int64_t>();
    const std::int64_t n = labels.numel();
    const auto step = static_cast<std::uint64_t>(buffer(0).item<std::int64_t>());
    std::vector<std::int64_t> positives, negatives;
    std::vector<std::int64_t> last_positives, last_negatives;  // where those stay empty
    // Of squared distances up to 4.
    const double rounding = distances.scalar_type() == at::kDouble ? 1e-14 : 2e-6;
    for (std::int64_t a = 0; a < n; ++a) {
      const double* row = matrix.const_data_ptr<double>() + a * n;
      // A pair's negative depends on the seed, the step and the pair's places in the batch alone.
      Random random(shape().seed, "head.negative",
                    {step, static_cast<std::uint64_t>(place.first + a * place.stride)});
      for (std::int64_t p = a + 1; p < n; ++p) {
        if (label[p] != label[a]) continue;
        const std::span<const double> distance(row, static_cast<std::size_t>(n));
        if (const std::int64_t negative = pick(distance, label, a, p, random); negative >= 0) {
          positives.push_back(a * n + p);
          negatives.push_back(a * n + negative);
        } else if (const std::int64_t last = farthest(distance, label, a);
                   last >= 0 && std::abs(row[last] - row[p]) <= rounding) {
          last_positives.push_back(a * n + p);
          last_negatives.push_back(a * n + last);
        }
      }
    }
    if (positives.empty()) {
      positives = std::move(last_positives);
      negatives = std::move(last_negatives);
    }
    const auto tensor = [&](const std::vector<std::int64_t>& v) {
      return at::tensor(v, at::TensorOptions(at::kLong)).to(distances.device());
    };
    return {tensor(positives), tensor(negatives)};
  }

  // Of those that the rule admits; -1: there is none.
  std::int64_t pick(std::span<const double> distance, const std::int64_t* label,
                    std::int64_t anchor, std::int64_t positive, Random& random) {
    const double bound = distance[static_cast<std::size_t>(positive)];
    candidates_.clear();
    for (std::size_t i = 0; i < distance.size(); ++i)
      if (label[i] != label[anchor] && distance[i] - bound < options_.margin &&
          (options_.negatives == "all" || distance[i] > bound))
        candidates_.push_back(static_cast<std::int64_t>(i));
    if (candidates_.empty()) return -1;
    if (options_.pick == "random") return candidates_[random.below(candidates_.size())];
    return *std::min_element(candidates_.begin(), candidates_.end(), [&](auto i, auto j) {
      return distance[static_cast<std::size_t>(i)] < distance[static_cast<std::size_t>(j)];
    });
  }

  // Of the other classes' images; -1: there is none.
  static std::int64_t farthest(std::span<const double> distance, const std::int64_t* label,
                               std::int64_t anchor) {
    std::int64_t found = -1;
    for (std::size_t i = 0; i < distance.size(); ++i)
      if (label[i] != label[anchor] &&
          (found < 0 || distance[i] > distance[static_cast<std::size_t>(found)]))
        found = static_cast<std::int64_t>(i);
    return found;
  }

  // (N, C): minus the squared distance to the nearest other image of the class in the batch;
  // -infinity where there is none.
  at::Tensor nearest(const at::Tensor& distance, const at::Tensor& labels) const {
    const double none = -std::numeric_limits<double>::infinity();
    const std::int64_t n = labels.size(0);
    const at::Tensor others = (-distance).clone().fill_diagonal_(none);
    return at::full({n, shape().classes}, none, distance.options())
        .scatter_reduce(1, labels.unsqueeze(0).expand({n, n}), others, "amax");
  }

  TripletOptions options_;
  std::vector<std::int64_t> candidates_;
};

}  // namespace

LossEntry triplet_loss() {
  return loss_entry<TripletOptions, TripletHead>(
      "triplet", "distances within triplets of the batch, with semi-hard negatives",
      "Schroff et al., FaceNet, CVPR 2015, Eq. 3; triplets as in facenet's select_triplets");
}

}  // namespace facebench
