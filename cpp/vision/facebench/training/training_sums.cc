#include "facebench/training/training_sums.h"

namespace facebench {

double TrainingSums::mean_loss() const { return images ? loss / static_cast<double>(images) : 0; }

double TrainingSums::accuracy() const {
  return images ? static_cast<double>(correct) / static_cast<double>(images) : 0;
}

void TrainingSums::add(const TrainingSums& more) {
  loss += more.loss;
  correct += more.correct;
  images += more.images;
}

Json TrainingSums::json() const {
  return {{"loss", loss}, {"correct", correct}, {"images", images}};
}

void TrainingSums::set(const Json& json) {
  loss = json.at("loss").get<double>();
  correct = json.at("correct").get<std::int64_t>();
  images = json.at("images").get<std::int64_t>();
}

}  // namespace facebench
