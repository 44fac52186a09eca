#include "facebench/training/internal/head_buffers.h"

#include <gtest/gtest.h>

#include "facebench/nn/internal/aten.h"
#include "nn/thread_communicator.h"

namespace facebench {
namespace {

at::Tensor scalar(double value) { return at::full({}, value, at::TensorOptions(at::kDouble)); }

// A head with a buffer of each kind: the sum of all features seen, a moving average of a batch's
// mean, and the number of steps.
class ThreeBuffers : public Head {
 public:
  ThreeBuffers() : Head({"three", Json::object(), {1, 1, 0, at::kDouble}}) {
    add_buffer("sum", scalar(100), BufferReduction::sum);
    add_buffer("average", scalar(10), BufferReduction::mean);
    add_buffer("steps", at::full({}, 7, at::TensorOptions(at::kLong)), BufferReduction::broadcast);
  }
  double value(std::size_t i) { return buffer(i).item<double>(); }

 protected:
  Output compute(HeadInput& input) override {
    buffer(0).add_(input.features().sum());
    buffer(1).mul_(0.5).add_(0.5 * input.features().mean());
    buffer(2).add_(1);
    return {};
  }
};

// One step on `features`, in as many micro-batches as there are lists; `images` in all.
void step(ThreeBuffers& head, HeadBuffers& buffers, Communicator& communicator,
          const std::vector<std::vector<double>>& parts, double images) {
  buffers.begin_step(communicator.size());
  for (const std::vector<double>& part : parts) {
    const auto n = static_cast<std::int64_t>(part.size());
    buffers.begin_part();
    head.loss(at::tensor(part, at::TensorOptions(at::kDouble)).view({n, 1}),
              at::zeros({n}, at::TensorOptions(at::kLong)));
    buffers.end_part(static_cast<double>(n) / images, 1);
  }
  buffers.end_step(communicator);
}

void expect_values(ThreeBuffers& head, double sum, double average, double steps) {
  EXPECT_DOUBLE_EQ(head.value(0), sum);
  EXPECT_DOUBLE_EQ(head.value(1), average);
  EXPECT_DOUBLE_EQ(head.value(2), steps);
}

TEST(HeadBuffers, OneProcessAndOnePartMoveInPlace) {
  ThreeBuffers head;
  HeadBuffers buffers;
  buffers.add(head, "head.");
  SingleProcess alone;
  step(head, buffers, alone, {{1, 2, 3, 6}}, 4);
  expect_values(head, 112, 0.5 * 10 + 0.5 * 3, 8);
  EXPECT_EQ(buffers.tensors()[0].name, "head.sum");
}

TEST(HeadBuffers, MicroBatchesAreOneStep) {
  ThreeBuffers head;
  HeadBuffers buffers;
  buffers.add(head, "");
  SingleProcess alone;
  // Each part's average starts from 10; 1 and 3 images of 4.
  step(head, buffers, alone, {{1}, {2, 3, 6}}, 4);
  expect_values(head, 112, 0.25 * (5 + 0.5) + 0.75 * (5 + 0.5 * 11 / 3.0), 8);
}

TEST(HeadBuffers, TwoProcessesEqualOne) {
  ThreeBuffers heads[2], whole;
  const std::vector<std::vector<double>> shares[2] = {{{1}}, {{2, 3}, {6}}};
  ThreadProcesses(2).run([&](Communicator& communicator) {
    const int rank = communicator.rank();
    HeadBuffers buffers;
    buffers.add(heads[rank], "");
    for (int i = 0; i < 2; ++i) step(heads[rank], buffers, communicator, shares[rank], 4);
  });
  SingleProcess alone;
  HeadBuffers buffers;
  buffers.add(whole, "");
  for (int i = 0; i < 2; ++i) step(whole, buffers, alone, {{1, 2, 3, 6}}, 4);
  for (ThreeBuffers& head : heads)
    expect_values(head, whole.value(0), whole.value(1), whole.value(2));
}

TEST(HeadBuffers, BroadcastTakesTheValueOfTheFirst) {
  ThreeBuffers heads[2];
  heads[1].set_buffer("steps", at::full({}, 50, at::TensorOptions(at::kLong)));
  ThreadProcesses(2).run([&](Communicator& communicator) {
    HeadBuffers buffers;
    buffers.add(heads[communicator.rank()], "");
    step(heads[communicator.rank()], buffers, communicator, {{1, 1}}, 4);
  });
  EXPECT_EQ(heads[0].value(2), 8);
  EXPECT_EQ(heads[1].value(2), 8);
}

}  // namespace
}  // namespace facebench
