// A machine on the CPU: guarded memory by mmap, one queue for all streams, and kernels that are
// ordinary functions, run once per launch. A fault is a signal of the process.
#pragma once

#include <sys/mman.h>

#include <cstring>
#include <functional>
#include <memory>

#include "standalone/run.h"

namespace redzone::standalone::testing {

class FakeMachine : public Machine {
 public:
  Region map(std::size_t bytes) override {
    const std::size_t size = (bytes + kPage - 1) / kPage * kPage;
    auto* all = static_cast<std::byte*>(
        mmap(nullptr, size + 2 * kPage, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    mprotect(all + kPage, size, PROT_READ | PROT_WRITE);
    return {all + kPage, size};
  }
  void write(void* to, const void* from, std::size_t bytes) override {
    std::memcpy(to, from, bytes);
  }
  void read(void* to, const void* from, std::size_t bytes) override {
    std::memcpy(to, from, bytes);
  }
  void* pinned_memory(std::size_t bytes) override {
    return host_.emplace_back(std::make_unique<std::byte[]>(bytes + 1)).get();
  }
  void* stream(int) override { return nullptr; }
  void wait(int stream, int on) override {
    waits += std::to_string(stream) + "<" + std::to_string(on) + " ";
  }
  void copy(void* to, const void* from, std::size_t bytes, int) override {
    enqueue([=] { std::memcpy(to, from, bytes); });
  }
  void memset(void* to, std::uint8_t value, std::size_t bytes, int) override {
    enqueue([=] { std::memset(to, value, bytes); });
  }
  void launch(const KernelRef& kernel, const LaunchShape&, const LaunchArgs& args, int) override {
    std::vector<std::vector<std::byte>> copies;
    for (std::size_t i = 0; i < args.count; ++i) {
      const auto* at = static_cast<const std::byte*>(args.pointers[i]);
      copies.emplace_back(at, at + args.sizes[i]);
    }
    enqueue([kernel, copies] {
      std::vector<void*> pointers;
      for (const auto& copy : copies) pointers.push_back(const_cast<std::byte*>(copy.data()));
      kernel.thunk(kernel.function, pointers.data());
    });
  }
  KernelRef variant(const VariantRequest& request) override { return {.name = request.name}; }
  EncodeStatus encode(const tma::Descriptor&, TensorMap&) override { return {1, "no TMA"}; }
  void hold() override { held_ = true; }
  void release() override { held_ = false; }
  void synchronize() override {
    release();
    ++synchronized;
    for (auto& work : queue_) work();
    queue_.clear();
  }
  int multiprocessors() override { return 4; }
  DeviceKind kind() override { return DeviceKind::host; }

  std::string waits;
  int synchronized = 0;

 private:
  static constexpr std::size_t kPage = 4096;

  void enqueue(std::function<void()> work) {
    if (held_)
      queue_.push_back(std::move(work));
    else
      work();
  }

  bool held_ = false;
  std::vector<std::function<void()>> queue_;
  std::vector<std::unique_ptr<std::byte[]>> host_;
};

}  // namespace redzone::standalone::testing
