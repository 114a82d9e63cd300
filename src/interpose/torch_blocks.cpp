#include "interpose/torch_blocks.h"

namespace redzone::interpose {
namespace {

constexpr const char* kFree = "PyTorch's free";

// While an object lives, captures of other threads do not forbid calls of this thread. The calls
// are not part of a graph.
class BesideCaptures {
 public:
  explicit BesideCaptures(const Driver& driver) : driver_(driver) { exchange(); }
  ~BesideCaptures() { exchange(); }
  BesideCaptures(const BesideCaptures&) = delete;
  BesideCaptures& operator=(const BesideCaptures&) = delete;

 private:
  void exchange() {
    if (driver_.exchange_capture_mode != nullptr) driver_.exchange_capture_mode(&mode_);
  }

  const Driver& driver_;
  int mode_ = kCuCaptureRelaxed;  // the thread's other mode while this object lives
};

}  // namespace

CuAddress TorchBlocks::allocate(std::size_t bytes, CuStream stream, const Frames& from) {
  free_waiting();
  const bool is_of_graph = memory_.captures(stream);
  // During any capture, DeviceMemory returns only prepared blocks, which must not be requested in
  // the order of a stream.
  const Order order = memory_.capturing() ? Order() : Order(stream);
  const auto guarded = memory_.allocate(bytes, order, from);
  const CuAddress block = guarded ? *guarded : allocate_plain(bytes);
  if (block != 0 && is_of_graph) {
    const std::lock_guard lock(mutex_);
    pools_.allocated(block);
  }
  return block;
}

CuAddress TorchBlocks::allocate_plain(std::size_t bytes) {
  const BesideCaptures beside(driver_);
  CuAddress out = 0;
  if (memory_.with_room([&] { return driver_.allocate(&out, bytes); }) != kCuSuccess) return 0;
  const std::lock_guard lock(mutex_);
  plain_.insert(out);
  return out;
}

void TorchBlocks::free(CuAddress block, CuStream stream, const Frames& from) {
  {
    const std::lock_guard lock(mutex_);
    if (pools_.keeps(block)) return;
  }
  free_now(block, stream, from);
  free_waiting();
}

void TorchBlocks::free_now(CuAddress block, Order order, const Frames& from) {
  if (memory_.free(block, order, kFree, from).freed != DeviceMemory::Freed::foreign) return;
  const std::lock_guard lock(mutex_);
  if (plain_.erase(block) != 0) waiting_.push_back(block);
}

void TorchBlocks::free_waiting() {
  // Wait for the end of the capture, because a free waits for the device, which would invalidate
  // the capture.
  if (memory_.capturing()) return;
  std::vector<CuAddress> all;
  {
    const std::lock_guard lock(mutex_);
    all.swap(waiting_);
  }
  for (const CuAddress block : all) driver_.free(block);
}

void TorchBlocks::record_stream(CuAddress block, CuStream stream) {
  memory_.record_stream(block, stream);
}

void TorchBlocks::begin_pool(GraphPools::Pool pool) {
  const std::lock_guard lock(mutex_);
  pools_.begin(pool);
}

void TorchBlocks::end_pool(GraphPools::Pool pool) {
  const std::lock_guard lock(mutex_);
  pools_.end(pool);
}

void TorchBlocks::release_pool(GraphPools::Pool pool) {
  std::vector<CuAddress> all;
  {
    const std::lock_guard lock(mutex_);
    all = pools_.release(pool);
  }
  // The streams in which the graph was replayed are unknown, so free in the order of all streams.
  for (const CuAddress block : all) free_now(block, std::nullopt, {});
  free_waiting();
}

}  // namespace redzone::interpose
