#include "facebench/embedding/batch_dependence.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <exception>
#include <limits>
#include <optional>
#include <stdexcept>

#include "facebench/core/error.h"
#include "facebench/core/random.h"
#include "facebench/embedding/batch_model.h"
#include "facebench/nn/internal/aten.h"

namespace facebench {
namespace {

// As many images of noise. Each `number` is another draw.
enum class Noise {
  // Each value the least or the largest: of bytes, or of `images`.
  kExtreme,
  // Within a fifth of that range, below its middle.
  kNarrow,
};

at::Tensor noise_like(const at::Tensor& images, Noise noise, std::uint64_t number) {
  at::Tensor drawn = at::empty(images.sizes(), images.options().memory_format(std::nullopt));
  Random random(1, "batch dependence", {number});
  const auto share = [&] {  // of the range
    return noise == Noise::kExtreme ? static_cast<double>(random.below(2))
                                    : 0.15 + 0.2 * random.uniform();
  };
  if (images.scalar_type() == at::kByte) {
    std::uint8_t* const to = drawn.data_ptr<std::uint8_t>();
    std::generate_n(to, drawn.numel(), [&] { return static_cast<std::uint8_t>(255 * share()); });
    return drawn;
  }
  float low = images.min().item<float>(), high = images.max().item<float>();
  if (low == high) --low, ++high;
  std::generate_n(drawn.data_ptr<float>(), drawn.numel(), [&] {
    const double x = share();
    return static_cast<float>((1 - x) * low + x * high);
  });
  return drawn;
}

bool is_finite(const at::Tensor& row) { return std::isfinite(row.norm().item<double>()); }

// Of two rows, as a share of the longer one's length; infinite where one alone is not finite.
double distance(const at::Tensor& a, const at::Tensor& b) {
  if (!is_finite(a) || !is_finite(b))
    return is_finite(a) == is_finite(b) ? 0 : std::numeric_limits<double>::infinity();
  const double length = std::max(a.norm().item<double>(), b.norm().item<double>());
  return length == 0 ? 0 : (a - b).norm().item<double>() / length;
}

[[noreturn]] void refuse(const BatchModel& model, std::string_view what) {
  fail(fmt::format("model '{}'", model.info().name), what,
       "Batch statistics or dropout are left on: export the network in evaluation mode, or call "
       "its eval() first");
}

// Of an image that goes through the model by itself. Throws Error where that is not defined.
void check_alone(const BatchModel& model, const at::Tensor& image, const at::Tensor& noise,
                 std::string_view before) {
  const at::Tensor first = model.rows(image), other = model.rows(noise), again = model.rows(image);
  const double limit = model.info().row_tolerance;
  if (first.size(1) != again.size(1) || distance(first, again) > limit)
    refuse(model,
           "one image gives two embeddings: what the model computes is drawn, or depends on "
           "the images before");
  if (before.empty()) return;
  if (!is_finite(first) || first.size(1) != other.size(1) || distance(first, other) <= limit)
    refuse(model, fmt::format("{}, and an image alone has none that tells it from others", before));
}

// Rows of another batch. Throws std::invalid_argument where they are not as long as `before`.
at::Tensor rows_as(const BatchModel& model, const at::Tensor& images, const at::Tensor& before) {
  at::Tensor rows = model.rows(images);
  if (rows.size(1) != before.size(1))
    throw std::invalid_argument(
        fmt::format("the model '{}' gave embeddings of {} numbers, expected {}", model.info().name,
                    rows.size(1), before.size(1)));
  return rows;
}

// Nothing where the model does not take an image alone, as an engine that was built for a batch.
std::optional<at::Tensor> row_alone(const BatchModel& model, const at::Tensor& image,
                                    std::int64_t numbers) {
  try {
    at::Tensor row = model.rows(image);
    if (row.size(1) == numbers) return row;
  } catch (const Cancelled&) {
    throw;
  } catch (...) {  // NOLINT(bugprone-empty-catch): it is asked for no more than this
  }
  return std::nullopt;
}

}  // namespace

std::string BatchFindings::of(int images, const std::function<std::string()>& find) {
  {
    const std::lock_guard lock(mutex_);
    if (const auto known = found_.find(images); known != found_.end()) return known->second;
  }
  // Not under the lock: the model may take long, or need a lock of its own.
  std::string found = find();
  const std::lock_guard lock(mutex_);
  return found_.emplace(images, std::move(found)).first->second;
}

std::string batch_dependence(const BatchModel& model, const at::Tensor& first_images) {
  at::Tensor images = first_images;
  const std::int64_t count = images.size(0);
  const at::Tensor noise = noise_like(images, Noise::kExtreme, 0);
  const at::Tensor image = images.narrow(0, 0, 1), other = noise.narrow(0, 0, 1);
  if (count == 1) {
    check_alone(model, image, other, "");
    return "";
  }
  std::optional<at::Tensor> rows;
  std::exception_ptr refused;
  try {
    rows = model.rows(images);
  } catch (const Cancelled&) {
    throw;
  } catch (const OutOfMemory&) {
    throw;
  } catch (...) {
    refused = std::current_exception();
  }
  if (!rows) {
    try {
      model.rows(image);
    } catch (const Cancelled&) {
      throw;
    } catch (...) {
      std::rethrow_exception(refused);
    }
    const std::string said = fmt::format("The model does not take {} images at once", count);
    check_alone(model, image, other, "");
    return said + ": it was given one image at a time.";
  }

  // An image without a row of its own, a black one say, tells nothing.
  if ((*rows)[0].norm().item<double>() == 0) {
    images = noise_like(images, Noise::kExtreme, 1);
    rows = model.rows(images);
  }
  // The same images in two other batches: what a network takes from a whole batch (its least and
  // largest value, mean, deviation, order, first image) is another in each.
  const at::Tensor narrow = noise_like(images, Noise::kNarrow, 2);
  at::Tensor mixed = noise.clone();
  const std::int64_t half = count / 2, last = count - 1;
  const std::int64_t narrow_at = count > 3 ? 2 : 0;
  mixed.select(0, narrow_at).copy_(narrow.select(0, last));
  mixed.select(0, last).copy_(images.select(0, 0));
  const bool several = count > 3;
  if (several) {
    mixed.select(0, 0).copy_(images.select(0, half));
    mixed.select(0, 1).copy_(images.select(0, 0));
  }
  const at::Tensor among = rows_as(model, mixed, *rows), alike = rows_as(model, narrow, *rows);
  double moved =
      std::max(distance((*rows)[0], among[last]), distance(alike[last], among[narrow_at]));
  if (several)
    moved = std::max({moved, distance((*rows)[0], among[1]), distance((*rows)[half], among[0])});
  std::string said = "An image's embedding depends on the other images of its batch";
  if (moved <= model.info().row_tolerance) {
    const auto alone = row_alone(model, images.narrow(0, 0, 1), rows->size(1));
    if (!alone || distance((*rows)[0], (*alone)[0]) <= model.info().row_tolerance) return "";
    said = "An image's embedding depends on how many images are in its batch";
  }
  try {
    model.rows(image);
  } catch (const Cancelled&) {
    throw;
  } catch (const std::exception& e) {
    const std::string_view why = e.what();  // of Python with all calls below
    refuse(model,
           fmt::format("{}, and alone it has none ({})", said, why.substr(0, why.find('\n'))));
  }
  check_alone(model, image, other, said);
  return said +
         ": the model was given one image at a time. Batch statistics do that (export it in "
         "evaluation mode), and dynamic quantisation.";
}

}  // namespace facebench
