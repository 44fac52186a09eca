#include "facebench/nn/internal/class_tiles.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "facebench/nn/internal/parallel_loops.h"

namespace facebench {
namespace {

using Words = std::vector<std::uint32_t>;  // groups of either kind

std::int64_t round_up(std::int64_t n, std::int64_t step) { return (n + step - 1) / step * step; }

// [first, last) in parts of nearly equal size, none above `most`: a short last part would be slow.
template <class Body>
void each_part(std::int64_t count, std::int64_t most, const Body& body) {
  const std::int64_t parts = (count + most - 1) / most;
  for (std::int64_t p = 0; p < parts; ++p) {
    const std::int64_t first = p * count / parts;
    body(first, static_cast<int>((p + 1) * count / parts - first));
  }
}

constexpr double kSmallestSquare = 1e-12;  // of a norm, as in normalize_rows
constexpr float kLargestInverse = 1e6F;

}  // namespace

// What a thread works in.
struct ClassTiles::Scratch {
  Words weights;                // of the tile: [features / width][groups of classes][width]
  std::vector<float> gradient;  // of the tile's logits over the norms, (rows, padded_images)
  Words along, across;          // the same in groups of images and of classes, where they are pairs
  std::vector<float> of_class;  // of the logits of one class that has several centres
  std::vector<float> minus;     // the part of a class's gradient along its weight, which is removed
  std::vector<float> block;     // of products
  std::vector<float> rows;      // its part of the gradient of the rows, (images, padded_features)
  std::vector<float> update;    // the gradient of the tile's weights, where it is not stored

  const void* along_groups() const {
    return along.empty() ? static_cast<const void*>(gradient.data()) : along.data();
  }
  const void* across_groups() const {
    return across.empty() ? static_cast<const void*>(gradient.data()) : across.data();
  }
};

ClassTiles::ClassTiles(Sizes sizes, const float* rows, const float* weight, const float* bias,
                       const std::int64_t* labels, bool unit_weights, bool bfloat16, Terms terms)
    : k_(head_kernels(bfloat16)),
      images_(sizes.images),
      features_(sizes.features),
      classes_(sizes.classes),
      centers_(sizes.centers),
      padded_images_(round_up(images_, k_.width)),
      padded_features_(round_up(features_, k_.width)),
      // Whole vectors of values, whatever the features: an optimizer's kernel may round the rest of
      // a tile otherwise than the same values within a whole weight.
      tile_(round_up(std::max<std::int64_t>(8L * k_.rows / centers_ - 15, 1), 16)),
      tiles_((classes_ + tile_ - 1) / tile_),
      threads_(static_cast<int>(std::min<std::int64_t>(at::get_num_threads(), tiles_))),
      rows_(rows),
      weight_(weight),
      bias_(bias),
      labels_(labels),
      unit_weights_(unit_weights),
      terms_(std::move(terms)),
      padded_labels_(static_cast<std::size_t>(padded_images_), -1),
      by_class_(static_cast<std::size_t>(images_)) {
  std::copy(labels, labels + images_, padded_labels_.begin());
  if (terms_.kind != OtherTerms::softmax)
    terms_.bound.resize(static_cast<std::size_t>(padded_images_), 0);
  std::iota(by_class_.begin(), by_class_.end(), 0);
  std::stable_sort(by_class_.begin(), by_class_.end(),
                   [&](int a, int b) { return labels[a] < labels[b]; });
}

template <class Body>
void ClassTiles::each_thread(const Body& body) const {
  at::parallel_for(0, threads_, 1, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t t = begin; t < end; ++t)
      body(static_cast<std::size_t>(t), t * tiles_ / threads_, (t + 1) * tiles_ / threads_);
  });
}

OtherTerms ClassTiles::terms(std::int64_t first_image) const {
  const float* bound =
      terms_.kind == OtherTerms::softmax ? nullptr : terms_.bound.data() + first_image;
  return {terms_.kind, bound, terms_.linear, terms_.square, terms_.limit};
}

// What a thread has counted.
struct ClassTiles::Part {
  std::vector<float> highest, top, sum, slope;
  std::vector<int> winner;

  explicit Part(std::int64_t images = 0)
      : highest(static_cast<std::size_t>(images), std::numeric_limits<float>::lowest()),
        top(highest),
        sum(static_cast<std::size_t>(images), 0),
        slope(sum),
        winner(static_cast<std::size_t>(images), -1) {}
  HeadTally of_panel(std::int64_t image) {
    return {highest.data() + image, winner.data() + image, top.data() + image, sum.data() + image,
            slope.data() + image};
  }
};

ClassTiles::Others ClassTiles::sum_of(const std::vector<Part>& parts) const {
  Others others;
  for (std::size_t i = 0; i < static_cast<std::size_t>(images_); ++i) {
    float highest = std::numeric_limits<float>::lowest(), top = highest;
    int winner = -1;
    for (const Part& part : parts) {
      top = std::max(top, part.top[i]);
      if (part.highest[i] > highest) {
        highest = part.highest[i];
        winner = part.winner[i];
      }
    }
    double scaled = 0, sum = 0, slope = 0;
    for (const Part& part : parts) {
      scaled += part.sum[i] * std::exp(static_cast<double>(part.top[i]) - top);
      sum += part.sum[i];
      slope += part.slope[i];
    }
    others.log_sum.push_back(top + std::log(scaled));
    others.sum.push_back(sum);
    others.slope.push_back(slope);
    others.highest.push_back(highest);
    others.winner.push_back(winner);
  }
  return others;
}

ClassTiles::Others ClassTiles::forward(float* logits, float* inverse_norms,
                                       std::uint8_t* nearest) const {
  const std::int64_t depth = groups(features_), width = k_.width;
  // [images / width][groups of features][width]
  Words panels(static_cast<std::size_t>(padded_images_ * depth), 0);
  Words row(static_cast<std::size_t>(depth));
  for (std::int64_t i = 0; i < images_; ++i) {
    k_.along(rows_ + i * features_, features_, row.data());
    std::uint32_t* to = panels.data() + i / width * width * depth + i % width;
    for (std::int64_t g = 0; g < depth; ++g) to[g * width] = row[static_cast<std::size_t>(g)];
  }

  const std::vector<float> ones(static_cast<std::size_t>(tile_), 1.0F);
  std::vector<Part> parts(static_cast<std::size_t>(threads_));
  each_thread([&](std::size_t thread, std::int64_t first_tile, std::int64_t last_tile) {
    Part& part = parts[thread] = Part(padded_images_);
    std::vector<float> products(static_cast<std::size_t>(tile_ * centers_ * width));
    Words narrow(static_cast<std::size_t>(k_.group == 1 ? 0 : tile_ * centers_ * depth));
    for (std::int64_t tile = first_tile; tile < last_tile; ++tile) {
      const std::int64_t first = tile * tile_, count = std::min(tile_, classes_ - first);
      const float* weight = weight_ + first * centers_ * features_;
      float* inverse = inverse_norms + first * centers_;
      for (std::int64_t j = 0; j < count * centers_; ++j) {
        const float* w = weight + j * features_;
        inverse[j] = unit_weights_
                         ? static_cast<float>(1 / std::sqrt(std::max<double>(
                                                      k_.squares(w, features_), kSmallestSquare)))
                         : 1.0F;
        if (k_.group != 1) k_.along(w, features_, narrow.data() + j * depth);
      }
      const void* rows = k_.group == 1 ? static_cast<const void*>(weight) : narrow.data();
      for (std::int64_t image = 0; image < padded_images_; image += width) {
        each_part(count * centers_, k_.rows, [&](std::int64_t from, int n_rows) {
          k_.product_along(static_cast<const std::uint32_t*>(rows) + from * depth, depth, n_rows,
                           panels.data() + image * depth, depth, products.data() + from * width,
                           width, false);
        });
        const std::int64_t place = first * padded_images_ + image;
        if (centers_ > 1)
          k_.nearest(products.data(), static_cast<int>(count), static_cast<int>(centers_), inverse,
                     nearest + place, padded_images_);
        k_.tally(terms(image), products.data(), static_cast<int>(count), static_cast<int>(first),
                 centers_ > 1 ? ones.data() : inverse, bias_ ? bias_ + first : nullptr,
                 padded_labels_.data() + image, logits + place, padded_images_,
                 part.of_panel(image));
      }
    }
  });
  return sum_of(parts);
}

void ClassTiles::backward(const Gradients& g) const {
  const std::int64_t width = k_.width, image_groups = groups(images_);
  // [features / width][groups of images][width]
  Words row_panels(static_cast<std::size_t>(padded_features_ * image_groups));
  for (std::int64_t f = 0; f < padded_features_; f += width)
    k_.across(rows_ + f, features_, images_, std::min(width, features_ - f),
              row_panels.data() + f * image_groups, width, width);

  std::vector<Scratch> threads(static_cast<std::size_t>(threads_));
  each_thread([&](std::size_t thread, std::int64_t first_tile, std::int64_t last_tile) {
    Scratch& s = threads[thread];
    const auto size = [](std::int64_t n) { return static_cast<std::size_t>(n); };
    const std::int64_t rows = tile_ * centers_;
    s.weights.resize(size(padded_features_ * groups(rows)));
    s.gradient.resize(size(rows * padded_images_));
    if (k_.group != 1) {
      s.along.resize(size(rows * groups(padded_images_)));
      s.across.resize(size(groups(rows) * padded_images_));
    }
    s.minus.resize(size(rows));
    if (centers_ > 1) s.of_class.resize(size(padded_images_));
    s.block.resize(size(k_.rows * width));
    if (g.rows) s.rows.resize(size(images_ * padded_features_));
    if (g.update) s.update.resize(size(rows * features_));
    for (std::int64_t tile = first_tile; tile < last_tile; ++tile) {
      logit_gradients(g, tile, s);
      if (g.rows) row_gradients(tile, s);
      if (g.weight || g.update) weight_gradients(g, tile, row_panels.data(), s);
      if (g.update)  // the last to need the tile's weights as they were
        g.update(tile * rows, rows_of(tile), s.update.data());
    }
  });

  if (!g.rows) return;
  at::parallel_for(0, images_, 16, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i)
      for (std::int64_t f = 0; f < features_; ++f) {
        float sum = 0;
        for (const Scratch& s : threads)
          sum += s.rows[static_cast<std::size_t>(i * padded_features_ + f)];
        g.rows[i * features_ + f] = sum;
      }
  });
}

void ClassTiles::logit_gradients(const Gradients& g, std::int64_t tile, Scratch& s) const {
  const std::int64_t first = tile * tile_, count = std::min(tile_, classes_ - first);
  const OtherTerms terms = this->terms(0);
  auto own = std::lower_bound(by_class_.begin(), by_class_.end(), first,
                              [&](int image, std::int64_t of) { return labels_[image] < of; });
  for (std::int64_t j = 0; j < count; ++j) {
    const std::int64_t of_class = first + j;
    const float* logits = g.logits + of_class * padded_images_;
    const float* inverse = g.inverse_norms + of_class * centers_;
    const float factor = centers_ > 1 ? 1.0F : *inverse;
    float* rows = s.gradient.data() + j * centers_ * padded_images_;
    float* out = centers_ > 1 ? s.of_class.data() : rows;
    float* minus = s.minus.data() + j * centers_;
    float total = 0, dot = 0;
    k_.gradient(terms, logits, g.log_sum.data(), g.share.data(), padded_labels_.data(),
                static_cast<int>(of_class), factor, padded_images_, out, &total, &dot);
    for (; own != by_class_.end() && labels_[*own] == of_class; ++own) {
      out[*own] = g.own[static_cast<std::size_t>(*own)] * factor;
      total += out[*own];
      dot += out[*own] * logits[*own];
    }
    if (g.bias) g.bias[of_class] = total;
    *minus = dot;
    if (centers_ > 1)
      k_.to_centers(out, logits, g.nearest + of_class * padded_images_, static_cast<int>(centers_),
                    inverse, padded_images_, rows, minus);
    for (std::int64_t k = 0; k < centers_; ++k) {
      // Normalisation removes the component of the gradient along the weight. A norm that was
      // raised to its minimum is a constant.
      minus[k] = unit_weights_ && inverse[k] < kLargestInverse ? minus[k] * inverse[k] : 0;
      if (k_.group != 1)
        k_.along(rows + k * padded_images_, padded_images_,
                 s.along.data() + (j * centers_ + k) * groups(padded_images_));
    }
  }
  if (k_.group != 1)
    k_.across(s.gradient.data(), padded_images_, count * centers_, padded_images_, s.across.data(),
              padded_images_, padded_images_);
}

void ClassTiles::weight_gradients(const Gradients& g, std::int64_t tile,
                                  const std::uint32_t* row_panels, Scratch& s) const {
  const std::int64_t first = tile * tile_ * centers_, count = rows_of(tile);
  const std::int64_t width = k_.width, depth = groups(images_), stride = groups(padded_images_);
  const auto* gradient = static_cast<const std::uint32_t*>(s.along_groups());
  float* out = g.update ? s.update.data() : g.weight + first * features_;
  for (std::int64_t f = 0; f < features_; f += width)
    each_part(count, k_.rows, [&](std::int64_t from, int rows) {
      k_.product_along(gradient + from * stride, stride, rows, row_panels + f * depth, depth,
                       s.block.data(), width, false);
      for (std::int64_t r = 0; r < rows; ++r) {
        const std::int64_t at = (from + r) * features_ + f;
        k_.minus(s.block.data() + r * width, weight_ + first * features_ + at,
                 s.minus[static_cast<std::size_t>(from + r)], std::min(width, features_ - f),
                 out + at);
      }
    });
}

void ClassTiles::row_gradients(std::int64_t tile, Scratch& s) const {
  const std::int64_t first = tile * tile_ * centers_, count = rows_of(tile);
  const std::int64_t width = k_.width, depth = groups(count);
  const auto* gradient = static_cast<const std::uint32_t*>(s.across_groups());
  for (std::int64_t f = 0; f < features_; f += width) {
    std::uint32_t* panel = s.weights.data() + f * depth;
    k_.across(weight_ + first * features_ + f, features_, count, std::min(width, features_ - f),
              panel, width, width);
    each_part(images_, k_.rows, [&](std::int64_t from, int rows) {
      k_.product_across(gradient + from, padded_images_, rows, panel, depth,
                        s.rows.data() + from * padded_features_ + f, padded_features_, true);
    });
  }
}

}  // namespace facebench
