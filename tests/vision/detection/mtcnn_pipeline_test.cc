// The kernels of the CUDA path, run on the processor: the same bodies, the same order, the same
// addresses, with memory that is not cleared and threads in any order.
#include "facebench/detection/internal/mtcnn_pipeline.h"

#include <gtest/gtest.h>

#include <condition_variable>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <map>
#include <mutex>
#include <numeric>
#include <thread>

#include "detection/textures.h"
#include "facebench/core/devices.h"
#include "facebench/core/isa.h"
#include "facebench/core/random.h"
#include "facebench/detection/detector.h"
#include "facebench/detection/internal/mtcnn_device.h"
#include "facebench/images/area_sampler.h"
#include "facebench/images/decode.h"
#include "facebench/io/image_files.h"

namespace facebench {
namespace {

// The threads of a block take turns: one runs from a sync to the next, then another, in an order
// that is drawn anew for each stretch. What relies on a sync that is missing is then wrong, each
// time in the same way.
class Turns {
 public:
  Turns(int threads, int block)
      : random_(7, "turns", {static_cast<std::uint64_t>(block)}),
        running_(static_cast<std::size_t>(threads)) {
    std::iota(running_.begin(), running_.end(), 0);
    draw();
  }

  void await(int thread) {
    std::unique_lock lock(mutex_);
    turned_.wait(lock, [&] { return left_.back() == thread; });
  }
  void pass(int thread) {
    {
      const std::lock_guard lock(mutex_);
      left_.pop_back();
      if (left_.empty()) draw();
    }
    turned_.notify_all();
    await(thread);
  }
  void leave(int thread) {
    {
      const std::lock_guard lock(mutex_);
      std::erase(running_, thread);
      left_.pop_back();
      if (left_.empty()) draw();
    }
    turned_.notify_all();
  }

 private:
  void draw() {
    left_ = running_;
    shuffle(left_, random_);
  }

  Random random_;
  std::mutex mutex_;
  std::condition_variable turned_;
  std::vector<int> running_;
  std::vector<int> left_;  // of this stretch; the last one runs
};

class HostBackend {
 public:
  // Threads of a block; indices in an order of their own where `shuffled`; a kernel's syncs do
  // nothing where not `synced`.
  explicit HostBackend(int threads = 1, bool shuffled = false, bool synced = true)
      : threads_(threads), shuffled_(shuffled), synced_(synced) {}
  ~HostBackend() { EXPECT_TRUE(sizes_.empty()) << "memory was not given back"; }

  void* allocate(std::size_t bytes) {
    void* memory = std::aligned_alloc(256, (bytes + 511) / 256 * 256);
    std::memset(memory, 0xcd, bytes);
    sizes_[memory] = bytes;
    return memory;
  }
  void release(void* memory) {
    if (memory == nullptr) return;
    EXPECT_EQ(sizes_.erase(memory), 1u);
    std::free(memory);
  }
  void upload(void* to, const void* from, std::size_t bytes) { std::memcpy(to, from, bytes); }
  void download(void* to, const void* from, std::size_t bytes) { std::memcpy(to, from, bytes); }
  void clear(void* memory, std::size_t bytes) { std::memset(memory, 0, bytes); }

  template <class F>
  void each(long n, const F& body) {
    long stride = shuffled_ ? n / 2 + 1 : 1;
    while (std::gcd(stride, n) > 1) ++stride;
    for (long i = 0; i < n; ++i) body(shuffled_ ? n - 1 - i * stride % n : i);
  }
  template <class F>
  void blocks(int n, const F& body) {
    for (int block = 0; block < n; ++block) {
      Turns turns(threads_, block);
      const auto work = [&](int thread) {
        turns.await(thread);
        body(block, thread, threads_, [&] {
          if (synced_) turns.pass(thread);
        });
        turns.leave(thread);
      };
      std::vector<std::jthread> others;
      for (int t = 1; t < threads_; ++t) others.emplace_back(work, t);
      work(0);
    }
  }

 private:
  const int threads_;
  const bool shuffled_, synced_;
  std::map<void*, std::size_t> sizes_;
};

// Small places, as texts of a test need few; `lanes` crops at a time.
PipelineSizes small_sizes() {
  PipelineSizes sizes;
  sizes.level_candidates = 3000;
  sizes.image_candidates = 1500;
  sizes.rnet_crops = 900;
  sizes.onet_crops = 300;
  sizes.rnet_lanes = 64;
  sizes.onet_lanes = 32;
  return sizes;
}

struct Trial {
  MtcnnOptions options;
  MtcnnRules rules;
  MtcnnWeights weights = read_mtcnn_weights(default_mtcnn_weights());

  explicit Trial(const Json& given) : Trial(given, *mtcnn_modes().at(with(given).mode).rules) {}
  Trial(const Json& given, const MtcnnRules& wanted) : options(with(given)), rules(wanted) {}
  int calls = 1;  // of the same pipeline; the last one's faces count
  static MtcnnOptions with(const Json& given) {
    MtcnnOptions options;
    options_from_json(options, given, "test");
    options.second_look = false;  // it is made on the processor
    return options;
  }

  // Faces of each image and the counts of the device.
  std::vector<std::vector<Face>> run(const std::vector<Image>& images, HostBackend& backend,
                                     const PipelineSizes& sizes, std::vector<int>& counts) const {
    std::vector<facebench_mtcnn_image> inputs;
    for (const Image& image : images) inputs.push_back(device_image(image));
    std::vector<facebench_mtcnn_face> faces(images.size() * facebench_mtcnn_most_faces);
    counts.assign(images.size(), -7);
    const auto detect = [&](auto&& pipeline) {
      for (int call = 0; call < calls; ++call)
        pipeline.detect(inputs.data(), static_cast<int>(inputs.size()), faces.data(),
                        counts.data());
    };
    const auto asked = device_rules(options, rules);
    const auto layers = device_layers(weights);
    if (rules.double_arithmetic)
      detect(MtcnnPipeline<HostBackend, double>(backend, asked, layers.data(), sizes));
    else
      detect(MtcnnPipeline<HostBackend, float>(backend, asked, layers.data(), sizes));
    std::vector<std::vector<Face>> result;
    const facebench_mtcnn_face* next = faces.data();
    for (const int count : counts) result.push_back(faces_of_device(next, count));
    return result;
  }
};

// Devices fuse a * b + c, as the processor does with each instruction set that can: then all bits
// are equal.
bool fuses(Isa isa) { return isa >= Isa::avx2; }
std::vector<Isa> fused_sets() {
  std::vector<Isa> sets;
  for (const Isa isa : {Isa::avx2, Isa::avx512})
    if (isa <= supported_isa()) sets.push_back(isa);
  return sets;
}

class Forced {
 public:
  explicit Forced(Isa isa) : before_(active_isa()) { force_isa(isa); }
  ~Forced() { force_isa(before_); }
  Forced(const Forced&) = delete;
  Forced& operator=(const Forced&) = delete;

 private:
  const Isa before_;
};

void expect_same_as_processor(const Trial& trial, const std::vector<Image>& images,
                              HostBackend&& backend, const PipelineSizes& sizes) {
  std::vector<int> counts;
  const auto found = trial.run(images, backend, sizes, counts);
  std::vector<Isa> sets = fused_sets();
  if (sets.empty()) sets.push_back(Isa::plain);
  for (const Isa isa : sets) {
    const Forced forced(isa);
    const auto detector = make_mtcnn(trial.options, trial.rules);
    for (std::size_t i = 0; i < images.size(); ++i) {
      SCOPED_TRACE(std::string(isa_name(isa)) + " " + std::to_string(images[i].width) + "x" +
                   std::to_string(images[i].height));
      const auto reference = detector->detect(images[i]);
      ASSERT_EQ(counts[i], static_cast<int>(reference.size()));
      expect_same(found[i], reference);
      if (fuses(isa)) {
        EXPECT_EQ(found[i], reference);
      }
    }
  }
}

std::vector<Image> mixed_sizes() {
  std::vector<Image> images;
  for (const auto& [width, height] :
       {std::pair{61, 57}, {1, 1}, {30, 90}, {12, 12}, {13, 12}, {200, 14}, {64, 64}})
    images.push_back(texture(width, height, width));
  images.emplace_back(40, 33);  // black
  return images;
}

// Cells of parts of an image, some of which reach out of it, are the processor's to the bit: those
// of a few rows, of more rows than 16 bits hold a sum of, and of more than 2^24 in all.
TEST(MtcnnPipeline, CellsAreThoseOfTheProcessor) {
  const Image small = texture(61, 57, 4), tall = texture(11, 6500, 5);
  Image white(500, 400);
  std::fill(white.data.begin(), white.data.end(), std::uint8_t{255});
  struct Part {
    const Image& image;
    int x0, y0, x1, y1, side;
  };
  Random random(5, "parts");
  std::vector<Part> parts{{tall, -3, 20, 30, 6480, 24}, {white, -1, -2, 499, 401, 1}};
  for (int i = 0; i < 60; ++i) {
    const int x = static_cast<int>(random.uniform(-40, 60));
    const int y = static_cast<int>(random.uniform(-40, 60));
    const int width = static_cast<int>(random.uniform(1, 110));
    parts.push_back({small, x, y, x + width, y + width + i % 3, i % 2 == 0 ? 24 : 7});
  }
  for (const Isa isa : fused_sets()) {
    const Forced forced(isa);
    for (const auto& [image, x0, y0, x1, y1, side] : parts)
      for (const AreaRule rule : {AreaRule::covered, AreaRule::whole}) {
        AreaSampler sampler(image, rule);
        sampler.cover(x0, y0, x1, y1, side, side, 127.5f, 0.0078125f);
        std::vector<float> expected(3UL * side * side), found(expected.size());
        sampler.all(expected.data());
        const DeviceImage device{image.data.data(), image.width, image.height};
        for (int i = 0; i < side * side; ++i) {
          float* const out = &found[3UL * i];
          if (rule == AreaRule::whole)
            mean_cell(device, x0, y0, x1, y1, side, side, i % side, i / side, out);
          else
            area_value(device, x0, y0, x1, y1, side, side, i % side, i / side, false, out);
        }
        ASSERT_EQ(found, expected) << isa_name(isa) << " " << x0 << " " << y0 << " " << x1 << " "
                                   << y1 << (rule == AreaRule::whole ? " whole" : " covered");
      }
  }
}

TEST(MtcnnPipeline, ExponentialIsRoundedFromDouble) {
  int other = 0, count = 0;
  for (float x = 0; x > -110; x -= 1e-3f, ++count) {
    const auto exact = static_cast<float>(std::exp(static_cast<double>(x)));
    other += shared_exp(x) != exact;
    ASSERT_NEAR(shared_exp(x), exact, 6e-8f * exact) << x;
  }
  EXPECT_LE(other, 1) << "of " << count;
  EXPECT_EQ(face_probability(3, 3), 0.5f);
  EXPECT_EQ(face_probability(0, 200), 1);
  EXPECT_EQ(face_probability(200, 0), 0);
}

TEST(MtcnnPipeline, MixedSizesGiveTheFacesOfTheProcessor) {
  if (!have_weights()) GTEST_SKIP() << "mtcnn.safetensors was not built";
  for (const auto& [mode, min_face] :
       {std::pair{"facenet_pytorch", 20.}, {"facenet_pytorch", 12.}, {"facenet", 16.}}) {
    Json options = eager(mode);
    options["min_face"] = min_face;
    Trial trial(options);
    trial.calls = 2;  // the second one finds memory that the first one has used
    expect_same_as_processor(trial, mixed_sizes(), HostBackend(), small_sizes());
  }
}

TEST(MtcnnPipeline, EveryRuleThatTheDeviceKnows) {
  if (!have_weights()) GTEST_SKIP() << "mtcnn.safetensors was not built";
  Json options = eager();
  MtcnnRules rules;
  rules.power_scales = rules.ceil_size = rules.zero_pad = rules.round_square = true;
  rules.plus_one = rules.last_of_equal = rules.columns_first = true;
  rules.plus_one_last = false;
  rules.landmark_offset = 0.5;
  options["box_offset"] = -1.5;
  options["max_face"] = 40;
  options["factor"] = 0.6;
  expect_same_as_processor(Trial(options, rules), {texture(70, 61, 5), texture(50, 80, 6)},
                           HostBackend(), small_sizes());
}

// A level with one candidate reads another cell: the threshold lies between the two best cells.
TEST(MtcnnPipeline, TheOnlyCandidateOfALevel) {
  if (!have_weights()) GTEST_SKIP() << "mtcnn.safetensors was not built";
  int faces = 0;
  for (int seed = 1; seed < 9; ++seed)
    for (const double first : {.2, .3, .4, .5}) {
      Json options = {{"mode", "facenet"}, {"thresholds", {first, 0., 0.}}};
      const std::vector<Image> images{texture(30, 24, seed)};
      expect_same_as_processor(Trial(options), images, HostBackend(), small_sizes());
      faces += make_mtcnn(Trial::with(options))->detect(images[0]).size() == 1;
    }
  EXPECT_GE(faces, 3);
}

TEST(MtcnnPipeline, OrderOfThreadsAndBatchesChangeNothing) {
  if (!have_weights()) GTEST_SKIP() << "mtcnn.safetensors was not built";
  const Trial trial(eager());
  const std::vector<Image> images = mixed_sizes();
  std::vector<int> counts;
  HostBackend plain, wild(3, true), racing(3, true, false);
  const auto one = trial.run(images, plain, small_sizes(), counts);
  EXPECT_EQ(trial.run(images, wild, small_sizes(), counts), one);
  EXPECT_NE(trial.run(images, racing, small_sizes(), counts), one)
      << "kernels without __syncthreads() are not found out";
  PipelineSizes two_at_a_time = small_sizes();
  two_at_a_time.batch_images = 2;
  EXPECT_EQ(trial.run(images, plain, two_at_a_time, counts), one);
  PipelineSizes by_pixels = small_sizes();
  by_pixels.batch_pixels = 4000;
  EXPECT_EQ(trial.run(images, plain, by_pixels, counts), one);
}

TEST(MtcnnPipeline, WhatDoesNotFitIsTold) {
  if (!have_weights()) GTEST_SKIP() << "mtcnn.safetensors was not built";
  const Trial trial(eager());
  const auto detector = make_mtcnn(trial.options, trial.rules);
  std::vector<Image> images{texture(30, 22, 2)};
  for (int seed = 1; images.size() < 3; ++seed)
    if (Image image = texture(64, 60, seed); !detector->detect(image).empty())
      images.push_back(std::move(image));
  HostBackend backend;
  std::vector<int> all, counts;
  const auto faces = trial.run(images, backend, small_sizes(), all);
  ASSERT_GT(all[1], 0);
  ASSERT_GT(all[2], 0);
  const auto left = [&](auto change) {
    PipelineSizes sizes = small_sizes();
    change(sizes);
    const auto found = trial.run(images, backend, sizes, counts);
    int result = 0;
    for (std::size_t i = 0; i < images.size(); ++i) {
      result += counts[i] == -1;
      if (counts[i] == -1) continue;
      EXPECT_EQ(found[i], faces[i]) << "an answer that is not the whole one";
    }
    return result;
  };
  EXPECT_EQ(left([](PipelineSizes&) {}), 0);
  EXPECT_GE(left([](PipelineSizes& s) { s.level_candidates = 1; }), 1);
  EXPECT_GE(left([](PipelineSizes& s) { s.image_candidates = 2; }), 1);
  EXPECT_GE(left([](PipelineSizes& s) { s.rnet_crops = 5; }), 2);
  EXPECT_GE(left([](PipelineSizes& s) { s.onet_crops = 3; }), 1);
  EXPECT_EQ(left([](PipelineSizes& s) { s.image_pixels = 1000; }), 2);
}

TEST(MtcnnPipeline, PhotographsGiveTheFacesOfTheProcessor) {
  const char* data = std::getenv("FACEBENCH_DATA");
  if (!have_weights()) GTEST_SKIP() << "mtcnn.safetensors was not built";
  if (data == nullptr) GTEST_SKIP() << "FACEBENCH_DATA is not set";
  const std::filesystem::path root = std::filesystem::path(data) / "lfw" / "images";
  const auto found = list_images(root).images;
  std::vector<Image> images;
  for (std::size_t i = 3; i < found.size() && images.size() < 3; i += found.size() / 3)
    images.push_back(read_image(root / found[i]));
  for (const char* mode : {"facenet_pytorch", "facenet"})
    expect_same_as_processor(Trial(Json{{"mode", mode}}), images, HostBackend(), small_sizes());
}

TEST(MtcnnDevice, SaysWhatIsWrong) {
  if (!have_weights()) GTEST_SKIP() << "mtcnn.safetensors was not built";
  Json options = {{"device", "cuda"}, {"mode", "matlab"}};
  EXPECT_THROW(make_detector("mtcnn", options), std::invalid_argument);
  options["mode"] = "facenet_pytorch";
  options["path"] = "plain";
  EXPECT_THROW(make_detector("mtcnn", options), std::invalid_argument);
  options.erase("path");
  if (!cuda_devices().devices.empty()) GTEST_SKIP() << "there is a CUDA device";
  try {
    make_detector("mtcnn", options);
    FAIL() << "a detector without a device";
  } catch (const Error& e) {
    EXPECT_NE(std::string(e.what()).find("device=cuda"), std::string::npos) << e.what();
    EXPECT_NE(std::string(e.what()).find("device=cpu"), std::string::npos) << e.what();
  }
}

TEST(MtcnnDevice, GivesTheFacesOfTheProcessor) {
  if (!have_weights()) GTEST_SKIP() << "mtcnn.safetensors was not built";
  if (cuda_devices().devices.empty()) GTEST_SKIP() << cuda_devices().reason;
  if (!fuses(active_isa())) GTEST_SKIP() << "the processor does not fuse a * b + c";
  std::vector<Image> images = mixed_sizes();
  images.push_back(texture(640, 480, 9));
  for (const char* mode : {"facenet_pytorch", "facenet"}) {
    Json options = eager(mode);
    const auto processor = make_detector("mtcnn", options);
    options["device"] = "cuda";
    const auto device = make_detector("mtcnn", options);
    const auto found = device->detect_all(images);
    for (std::size_t i = 0; i < images.size(); ++i) {
      EXPECT_EQ(found[i], processor->detect(images[i]));
      EXPECT_EQ(device->detect(images[i]), found[i]) << "a batch gives the answers of single calls";
    }
  }
}

}  // namespace
}  // namespace facebench
