// Scenarios that lose the device. Each prints how the device reported the fault and exits by _exit.
#include <unistd.h>

#include <array>
#include <cstdio>
#include <functional>
#include <map>

#include "gpu/gpu_fixture.h"
#include "gpu/kernels.h"
#include "tests/device/bulk_copy.h"

namespace redzone::gpu_test {
namespace {

using device::Device;
using device::Region;
using device::Status;

// Enqueues the faulting work on a region of the guard arena.
using Scenario = std::function<Status<void>(Device&, Region)>;

Status<void> load_at(Device& device, const std::byte* at, std::byte* to) {
  return launch(device, 0, load_byte_kernel(), kOneThread,
                reinterpret_cast<const std::uint8_t*>(at), reinterpret_cast<std::uint8_t*>(to));
}

Status<void> store_behind_tail(Device& device, Region region) {
  return launch(device, 0, store_byte_kernel(), kOneThread,
                reinterpret_cast<std::uint8_t*>(region.base + region.bytes), std::uint8_t{1});
}

Status<void> load_misaligned(Device& device, Region region) {
  return launch(device, 0, load_word_kernel(), kOneThread,
                reinterpret_cast<const std::uint32_t*>(region.base + 1),
                reinterpret_cast<std::uint32_t*>(region.base));
}

// Waits without the device's knowledge, so its next launch is the first to report the fault.
Status<void> fault_then_launch(Device& device, Region region) {
  if (auto s = load_at(device, region.base + region.bytes, region.base); !s) return s;
  wait_for_stream(device.stream_handle(0));
  return load_at(device, region.base, region.base);
}

Status<void> fault_behind_gate(Device& device, Region region) {
  if (auto s = load_at(device, region.base, region.base); !s) return s;  // loads the kernel
  if (auto s = device.hold(); !s) return s;
  return load_at(device, region.base + region.bytes, region.base);
}

// A correct call, a faulting one and a correct one, each followed by a progress marker.
Status<void> mark_around_fault(Device& device, Region region) {
  const std::byte* at[] = {region.base, region.base + region.bytes, region.base};
  for (std::uint32_t i = 0; i < 3; ++i) {
    if (auto s = load_at(device, at[i], region.base); !s) return s;
    if (auto s = device.mark(0, i + 1); !s) return s;
  }
  return {};
}

Status<void> copy_between_units(Device& device, Region) {
  auto memory = device.memory(Allocator::guard).acquire(4096);
  if (!memory) return tl::unexpected(memory.error());
  const auto c = device::testing::between_units(reinterpret_cast<std::uintptr_t>(memory->base));
  TensorMap map;
  if (auto code = device.encode(c.descriptor, map); !code) return tl::unexpected(code.error());
  device::testing::launch_tiles(device, device::testing::copy_tiles_kernel(1), c, map,
                                memory->base + 2048);
  return {};
}

const std::map<std::string, Scenario>& scenarios() {
  static const std::map<std::string, Scenario> all = {
      {"read-behind-tail",
       [](Device& d, Region r) { return load_at(d, r.base + r.bytes, r.base); }},
      {"read-before-head", [](Device& d, Region r) { return load_at(d, r.base - 1, r.base); }},
      {"write-behind-tail", store_behind_tail},
      {"last-byte", [](Device& d, Region r) { return load_at(d, r.base + r.bytes - 1, r.base); }},
      {"misaligned", load_misaligned},
      {"assert", [](Device& d, Region) { return launch(d, 0, assert_kernel(), kOneThread); }},
      {"trap", [](Device& d, Region) { return launch(d, 0, trap_kernel(), kOneThread); }},
      {"bulk-copy-between-units", copy_between_units},
      {"later-launch", fault_then_launch},
      {"closed-gate", fault_behind_gate},
      {"mark-before-and-behind", mark_around_fault},
      {"mark-before-and-behind-gated",
       [](Device& d, Region r) {
         if (auto s = load_at(d, r.base, r.base); !s) return s;  // loads the kernel
         if (auto s = d.hold(); !s) return s;
         return mark_around_fault(d, r);
       }},
  };
  return all;
}

[[noreturn]] void report(const std::string& line) {
  std::printf("%s\n", line.c_str());
  std::fflush(stdout);
  _exit(0);
}

}  // namespace

int child_main(const std::string& scenario) {
  auto opened = device::open_cuda_device();
  if (!opened) report("open: " + describe(opened.error()));
  Device& device = **opened;
  if (auto s = device.begin_trial({}); !s) report("begin_trial: " + describe(s.error()));
  auto region = device.memory(Allocator::guard).acquire(1);
  if (!region) report("acquire: " + describe(region.error()));
  auto status = scenarios().at(scenario)(device, *region);
  if (!status) report("enqueue: " + describe(status.error()));
  status = device.synchronize();
  if (device.reached(0) > 0) std::printf("reached %u\n", device.reached(0));
  report(status ? "completed" : "synchronize: " + describe(status.error()));
}

std::string run_child(const std::string& scenario) {
  std::array<char, 4096> path = {};
  if (readlink("/proc/self/exe", path.data(), path.size() - 1) <= 0) return "readlink failed";
  const std::string command = "'" + std::string(path.data()) + "' --redzone-child=" + scenario;
  std::FILE* pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) return "popen failed";
  std::string output;
  std::array<char, 512> part;
  while (std::fgets(part.data(), part.size(), pipe) != nullptr) output += part.data();
  const int status = pclose(pipe);
  return status == 0 ? output : output + "(exit status " + std::to_string(status) + ")";
}

}  // namespace redzone::gpu_test
