// Runs one trial of a target that allocates as PyTorch does, and prints its observation. Arguments:
// what the target does in its second call; the allocator.
#include <dlfcn.h>
#include <fmt/format.h>

#include <cstdio>
#include <cstring>
#include <memory>
#include <string>

#include "memory_preload/guarded_trials.h"
#include "trial/device_trial_host.h"

namespace redzone {
namespace {

using Allocate = void* (*)(std::size_t);

struct Process {
  std::string deed;
  Allocate allocate = nullptr;
  memory_preload::GuardedTrials* trials = nullptr;
};

// Keeps a block of the size of the first call, as a cache without a key does.
class Cached final : public Target {
 public:
  explicit Cached(Process& process) : process_(process) {}
  ~Cached() override { std::free(block_); }

  void run(Context& ctx) override {
    if (process_.deed == "nothing") return;
    const memory_preload::GuardedCode code(*process_.trials, calls_++);
    const auto elements = static_cast<std::size_t>(ctx.dim("N"));
    if (block_ == nullptr)
      block_ = static_cast<float*>(process_.allocate(elements * sizeof(float)));
    if (process_.deed == "fill")
      for (std::size_t i = 0; i < elements; ++i) block_[i] = 1;
    if (process_.deed == "read_freed" && calls_ == 2) {
      void* const block = process_.allocate(64);
      volatile float* freed = static_cast<float*>(block);
      asm volatile("" : "+r"(freed));  // the compiler knows free()
      std::free(block);
      (void)freed[1];
    }
  }

 private:
  Process& process_;
  float* block_ = nullptr;
  std::int32_t calls_ = 0;
};

Plan two_calls(std::int64_t first, std::int64_t second) {
  Plan plan;
  plan.target = "cached";
  for (const auto n : {first, second}) {
    Call call;
    call.dims = {{"N", n}};
    plan.steps.emplace_back(CallStep{call, 1, 0});
  }
  return plan;
}

void print(const Observation& o) {
  fmt::print("{}", name_of(o.end));
  for (const auto& call : o.calls)
    for (const auto& b : call.buffers)
      if (b.dirty_after > 0)
        fmt::print("; call {}: {} dirty after {}, from byte {}", call.call, b.dirty_after, b.name,
                   b.first_dirty_byte);
  if (!o.own_memory) return fmt::print("; nothing of its own\n");
  const OwnMemory& m = *o.own_memory;
  fmt::print("; {} blocks, {} bytes, unguarded {}\n", m.blocks, m.bytes, m.unguarded_trials);
}

int run(const std::string& deed, Allocator allocator, std::int64_t second) {
  Process process{deed, nullptr, nullptr};
  process.allocate =
      reinterpret_cast<Allocate>(dlsym(dlopen(C10_LIBRARY, RTLD_NOW), "c10_allocate"));
  TargetSpec spec;
  spec.name = "cached";
  spec.dims = {{.name = "N", .min = 1}};
  spec.tensors = {{.name = "y", .role = Role::out, .shape = shape_of({"N"})}};
  Registry registry;
  const auto added =
      registry.add({spec, DeviceKind::host, [&] { return std::make_unique<Cached>(process); }});
  if (!added) {
    fmt::print("{}\n", added.error().message);
    return 2;
  }
  auto client = memory_preload::Client::find();
  auto device = device::open_host_device();
  if (client) {
    client->arm();
    device->set_other_blocks(memory_preload::Client::finder());
  }
  trial::DeviceTrialHost host(std::move(device), registry, nullptr, "");
  memory_preload::GuardedTrials trials(host, client);
  process.trials = &trials;
  TrialSpec trial;
  trial.mode.allocator = allocator;
  Plan plan = two_calls(3, second);
  plan.mode = trial.mode;
  for (int i = 0; i < 2; ++i) print(trials.run(plan, trial));
  return 0;
}

}  // namespace
}  // namespace redzone

int main(int argc, char** argv) {
  if (argc != 4) return 2;
  const auto allocator = redzone::value_named<redzone::Allocator>(argv[2]);
  return allocator ? redzone::run(argv[1], *allocator, std::stoll(argv[3])) : 2;
}
