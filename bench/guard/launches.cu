// Allocates, launches a kernel and frees again, 100,000 times in the order of a stream. Prints the
// JSON line that `redzone bench --part guard` reads.
#include <cuda_runtime.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <thread>

namespace {

constexpr int kRounds = 100'000, kWarm = 1'000;
constexpr int kLanes = 128;

__global__ void fill(float* to) {
  to[threadIdx.x] = 1;
}

void check(cudaError_t result, const char* call) {
  if (result == cudaSuccess) return;
  std::fprintf(stderr, "%s: %s\n", call, cudaGetErrorName(result));
  std::exit(1);
}
#define CHECK(call) check(call, #call)

void repeat(int rounds, cudaStream_t stream) {
  for (int i = 0; i < rounds; ++i) {
    void* block = nullptr;
    CHECK(cudaMallocAsync(&block, kLanes * sizeof(float), stream));
    fill<<<1, kLanes, 0, stream>>>(static_cast<float*>(block));
    CHECK(cudaFreeAsync(block, stream));
  }
  CHECK(cudaStreamSynchronize(stream));
}

// Device memory in use, by any process.
std::size_t used_bytes() {
  std::size_t free = 0, total = 0;
  CHECK(cudaMemGetInfo(&free, &total));
  return total - free;
}

}  // namespace

int main() {
  cudaStream_t stream = nullptr;
  CHECK(cudaStreamCreate(&stream));
  repeat(kWarm, stream);
  const auto begun = std::chrono::steady_clock::now();
  repeat(kRounds, stream);
  const std::chrono::duration<double, std::micro> taken = std::chrono::steady_clock::now() - begun;
  std::atomic<bool> done{false};
  std::size_t peak = used_bytes();
  std::thread watcher([&] {
    while (!done) {
      peak = std::max(peak, used_bytes());
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  });
  repeat(kWarm, stream);
  done = true;
  watcher.join();
  int version = 0;
  CHECK(cudaRuntimeGetVersion(&version));
  std::printf(
      "{\"unit\": \"round\", \"us\": %.3f, \"peak_bytes\": %zu, \"with\": \"CUDA %d.%d\"}\n",
      taken.count() / kRounds, peak, version / 1000, version % 1000 / 10);
}
