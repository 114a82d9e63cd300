// What ./scripts/guard_gpu runs without and with the guard: one deed, by the name of the argument.
// Exits with 3 if the device met an error, with 9 if a call failed before.
#include <cuda_runtime.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>

namespace {

constexpr int kFloats = 1024;
constexpr int kLanes = 32;
constexpr std::size_t kBytes = kFloats * sizeof(float);

__global__ void fill(float* to, long first, float value) {
  to[first + threadIdx.x] = value;
}

__global__ void plus_one(const float* from, long at, float* out) {
  *out = from[at] + 1;
}

void check(cudaError_t result, const char* call) {
  if (result == cudaSuccess) return;
  std::printf("%s: %s\n", call, cudaGetErrorName(result));
  std::exit(9);
}
#define CHECK(call) check(call, #call)

// Microseconds of one round.
template <class Round, class Wait>
double round_us(int rounds, Round round, Wait wait) {
  const auto begun = std::chrono::steady_clock::now();
  for (int i = 0; i < rounds; ++i) round();
  wait();
  const std::chrono::duration<double, std::micro> taken = std::chrono::steady_clock::now() - begun;
  return taken.count() / rounds;
}

// Allocate, launch, free, as a program without an allocator of its own does.
void allocate_often(int rounds) {
  const double plain = round_us(
      rounds,
      [] {
        float* p = nullptr;
        CHECK(cudaMalloc(&p, kBytes));
        fill<<<1, kLanes>>>(p, 0, 1);
        CHECK(cudaFree(p));
      },
      [] { CHECK(cudaDeviceSynchronize()); });
  cudaStream_t stream = nullptr;
  CHECK(cudaStreamCreate(&stream));
  const double ordered = round_us(
      rounds,
      [&] {
        void* p = nullptr;
        CHECK(cudaMallocAsync(&p, kBytes, stream));
        fill<<<1, kLanes, 0, stream>>>(static_cast<float*>(p), 0, 1);
        CHECK(cudaFreeAsync(p, stream));
      },
      [&] { CHECK(cudaStreamSynchronize(stream)); });
  std::printf("cudaMalloc %.2f us\ncudaMallocAsync %.2f us\n", plain, ordered);
}

// Nothing but launches.
void launch_often(int launches) {
  float* p = nullptr;
  CHECK(cudaMalloc(&p, kBytes));
  const double taken = round_us(
      launches, [&] { fill<<<1, kLanes>>>(p, 0, 1); }, [] { CHECK(cudaDeviceSynchronize()); });
  std::printf("launch %.3f us\n", taken);
}

// An allocation of the graph's own, and one that is freed after it.
void capture(float* a) {
  cudaStream_t stream = nullptr;
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t executable = nullptr;
  void *inside = nullptr, *around = nullptr;
  CHECK(cudaStreamCreate(&stream));
  CHECK(cudaMallocAsync(&around, 5000, stream));
  CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  fill<<<1, kLanes, 0, stream>>>(a, 0, 1);
  CHECK(cudaMallocAsync(&inside, kBytes, stream));
  fill<<<1, kLanes, 0, stream>>>(static_cast<float*>(inside), 0, 1);
  CHECK(cudaFreeAsync(inside, stream));
  CHECK(cudaStreamEndCapture(stream, &graph));
  CHECK(cudaGraphInstantiate(&executable, graph, 0));
  for (int i = 0; i < 5; ++i) CHECK(cudaGraphLaunch(executable, stream));
  CHECK(cudaFreeAsync(around, stream));
  CHECK(cudaStreamSynchronize(stream));
}

// 1,000 bytes end within the 256 that a block is aligned to: the slack is canary.
void write_into_slack() {
  float* block = nullptr;
  CHECK(cudaMalloc(&block, 1000));
  fill<<<1, kLanes>>>(block, 250 - (kLanes - 1), 2);
  CHECK(cudaFree(block));
}

// More than the block has, to the host.
void copy_beyond(float* a) {
  static float host[kFloats + 4];
  CHECK(cudaMemcpy(host, a, kBytes + 4 * sizeof(float), cudaMemcpyDeviceToHost));
}

// The block is freed in the order of one stream, and used in another one that does not wait for it.
void use_freed_async(float* out) {
  cudaStream_t first = nullptr, second = nullptr;
  void* block = nullptr;
  CHECK(cudaStreamCreate(&first));
  CHECK(cudaStreamCreate(&second));
  CHECK(cudaMallocAsync(&block, kBytes, first));
  CHECK(cudaStreamSynchronize(first));
  CHECK(cudaFreeAsync(block, first));
  CHECK(cudaStreamSynchronize(first));
  plus_one<<<1, 1, 0, second>>>(static_cast<float*>(block), 5, out);
}

__global__ void write_late(float* to, long cycles) {
  const long long begun = clock64();
  while (clock64() - begun < cycles) {}
  to[0] = 1;
}

// The second stream does not wait for the first, which writes what it reads.
void miss_wait(float* a, float* out) {
  cudaStream_t first = nullptr, second = nullptr;
  CHECK(cudaStreamCreateWithFlags(&first, cudaStreamNonBlocking));
  CHECK(cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking));
  write_late<<<1, 1, 0, first>>>(a, 10000000);
  plus_one<<<1, 1, 0, second>>>(a, 0, out);
}

void read_unwritten(float* out) {
  float* block = nullptr;
  CHECK(cudaMalloc(&block, kBytes));
  plus_one<<<1, 1>>>(block, 5, out);
}

bool run(const std::string& deed, float* a, float* out) {
  if (deed == "clean") {
    fill<<<1, kLanes>>>(a, kFloats - kLanes, 2);
    plus_one<<<1, 1>>>(a, kFloats - 1, out);
  } else if (deed == "write_after") {
    fill<<<1, kLanes>>>(a, kFloats - kLanes + 1, 2);
  } else if (deed == "read_after") {
    plus_one<<<1, 1>>>(a, kFloats, out);
  } else if (deed == "write_before") {
    fill<<<1, 1>>>(a, -1, 2);
  } else if (deed == "slack") {
    write_into_slack();
  } else if (deed == "after_free") {
    CHECK(cudaFree(a));
    plus_one<<<1, 1>>>(a, 5, out);
  } else if (deed == "double_free") {
    CHECK(cudaFree(a));
    std::printf("second free: %s\n", cudaGetErrorName(cudaFree(a)));
    (void)cudaGetLastError();
  } else if (deed == "copy_beyond") {
    copy_beyond(a);
  } else if (deed == "after_free_async") {
    use_freed_async(out);
  } else if (deed == "missing_wait") {
    miss_wait(a, out);
  } else if (deed == "unwritten") {
    read_unwritten(out);
  } else if (deed == "capture") {
    capture(a);
  } else {
    return false;
  }
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string deed = argc > 1 ? argv[1] : "";
  if (deed == "often") {
    allocate_often(argc > 2 ? std::atoi(argv[2]) : 1000);
    return 0;
  }
  if (deed == "launches") {
    launch_often(argc > 2 ? std::atoi(argv[2]) : 1000);
    return 0;
  }
  float *a = nullptr, *out = nullptr, value = 0;
  CHECK(cudaMalloc(&a, kBytes));
  CHECK(cudaMalloc(&out, sizeof(float)));
  CHECK(cudaMemset(a, 0, kBytes));
  CHECK(cudaMemset(out, 0, sizeof(float)));
  if (!run(deed, a, out)) {
    std::printf("no deed '%s'\n", deed.c_str());
    return 9;
  }
  cudaError_t result = cudaDeviceSynchronize();
  if (result == cudaSuccess) result = cudaMemcpy(&value, out, sizeof value, cudaMemcpyDeviceToHost);
  std::printf("%s: %s %g\n", deed.c_str(), cudaGetErrorName(result), static_cast<double>(value));
  return result == cudaSuccess ? 0 : 3;
}
