#include <cuda_runtime.h>

#include <cstdio>
#include <exception>
#include <memory>
#include <stdexcept>
#include <string>

#include "facebench/detection/internal/mtcnn_cuda.h"
#include "facebench/detection/internal/mtcnn_pipeline.h"

namespace facebench {
// Not without a name: nvcc makes one of the file's path, and each folder would give other bytes.
inline namespace mtcnn_cuda {

void check(cudaError_t error, const char* what) {
  if (error == cudaSuccess) return;
  cudaGetLastError();  // clears the error, so that the next call does not see it
  throw std::runtime_error(std::string(what) + ": " + cudaGetErrorString(error));
}

template <class F>
__global__ void each_kernel(const F body, long n) {
  const long i = static_cast<long>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < n) body(i);
}

struct BlockSync {
  __device__ void operator()() const { __syncthreads(); }
};

template <class F>
__global__ void block_kernel(const F body) {
  body(static_cast<int>(blockIdx.x), static_cast<int>(threadIdx.x), static_cast<int>(blockDim.x),
       BlockSync{});
}

// One device and a stream of its own.
class CudaBackend {
 public:
  explicit CudaBackend(int device) : device_(device) {
    check(cudaSetDevice(device), "the CUDA device cannot be used");
    check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "no CUDA stream");
  }
  ~CudaBackend() { cudaStreamDestroy(stream_); }
  CudaBackend(const CudaBackend&) = delete;
  CudaBackend& operator=(const CudaBackend&) = delete;

  // The device of the calling thread.
  void use() const { check(cudaSetDevice(device_), "the CUDA device cannot be used"); }

  void* allocate(std::size_t bytes) {
    void* memory = nullptr;
    check(cudaMalloc(&memory, bytes), "memory of the CUDA device");
    return memory;
  }
  void release(void* memory) {
    if (memory != nullptr) cudaFree(memory);
  }
  void upload(void* to, const void* from, std::size_t bytes) {
    // From memory that is not pinned it returns once the source has been read.
    check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyHostToDevice, stream_), "copy to the device");
  }
  void download(void* to, const void* from, std::size_t bytes) {
    check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToHost, stream_), "copy to the host");
    check(cudaStreamSynchronize(stream_), "CUDA kernels");
  }
  void clear(void* memory, std::size_t bytes) {
    check(cudaMemsetAsync(memory, 0, bytes, stream_), "memory of the CUDA device");
  }
  template <class F>
  void each(long n, const F& body) {
    if (n <= 0) return;
    constexpr int threads = 128;
    const auto blocks = static_cast<unsigned>((n + threads - 1) / threads);
    each_kernel<<<blocks, threads, 0, stream_>>>(body, n);
    check(cudaGetLastError(), "CUDA kernel");
  }
  template <class F>
  void blocks(int n, const F& body) {
    if (n <= 0) return;
    block_kernel<<<n, 256, 0, stream_>>>(body);
    check(cudaGetLastError(), "CUDA kernel");
  }

 private:
  const int device_;
  cudaStream_t stream_ = nullptr;
};

struct CudaMtcnn {
  virtual ~CudaMtcnn() = default;
  virtual void detect(const facebench_mtcnn_image* images, int count, facebench_mtcnn_face* faces,
                      int* counts) = 0;
};

// Box coordinates have the precision T.
template <class T>
struct CudaMtcnnOf final : CudaMtcnn {
  CudaBackend backend;
  MtcnnPipeline<CudaBackend, T> pipeline;
  CudaMtcnnOf(int device, const facebench_mtcnn_rules& rules, const facebench_mtcnn_layer* layers)
      : backend(device), pipeline(backend, rules, layers) {}
  void detect(const facebench_mtcnn_image* images, int count, facebench_mtcnn_face* faces,
              int* counts) override {
    backend.use();
    pipeline.detect(images, count, faces, counts);
  }
};

void say(const std::exception& e, char* reason, int size) {
  std::snprintf(reason, static_cast<std::size_t>(size), "%s", e.what());
}

}  // namespace mtcnn_cuda
}  // namespace facebench

void* facebench_mtcnn_open(int device, const facebench_mtcnn_rules* rules,
                           const facebench_mtcnn_layer* layers, char* reason, int reason_size) {
  try {
    facebench::CudaMtcnn* detector = nullptr;
    if (rules->double_arithmetic != 0)
      detector = new facebench::CudaMtcnnOf<double>(device, *rules, layers);
    else
      detector = new facebench::CudaMtcnnOf<float>(device, *rules, layers);
    return detector;
  } catch (const std::exception& e) {
    facebench::say(e, reason, reason_size);
    return nullptr;
  }
}

int facebench_mtcnn_detect(void* detector, const facebench_mtcnn_image* images, int count,
                           facebench_mtcnn_face* faces, int* counts, char* reason,
                           int reason_size) {
  auto* const d = static_cast<facebench::CudaMtcnn*>(detector);
  try {
    d->detect(images, count, faces, counts);
    return 0;
  } catch (const std::exception& e) {
    facebench::say(e, reason, reason_size);
    return -1;
  }
}

void facebench_mtcnn_close(void* detector) { delete static_cast<facebench::CudaMtcnn*>(detector); }
