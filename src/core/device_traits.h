// Facts about each kind of device: what it can do, what is judged there and what its workers cost.
// Code outside src/device uses these facts and does not branch on the kind, so that a new kind is
// one more row of the table in device_traits.cpp.
#pragma once

#include <redzone/spec.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "core/error.h"

namespace redzone {

// Which targets run on the device.
struct TargetSupport {
  // Plugins are built for this other kind, whose targets run here unless a target of the same name
  // exists for this kind; absent: plugins are built for this kind.
  std::optional<DeviceKind> runs_plugins_of = {};
  bool launches_cubins = false;            // packages of compiled CUDA kernels have targets for it
  bool checks_compute_capability = false;  // enforces TargetSpec::min_... and
                                           // only_compute_capability
  bool needs_nvrtc = false;                // for targets whose spec sets needs_nvrtc
};

// What Mode::schedule_seed decides on a device.
enum class SeedDecides : std::uint8_t {
  nothing,
  contention,    // whether other work keeps the device busy beside a trial (core/contention.h)
  interleaving,  // how blocks, threads and streams interleave
};

// How kernels run.
struct ExecutionTraits {
  bool runs_kernels = true;  // false: only launchers are judged, and buffers have no contents
  // A trial keeps a core of the host busy; otherwise one worker keeps a separate device busy.
  bool on_host_cores = false;
  bool in_host_memory = false;  // buffers take host memory, which the driver process needs too
  SeedDecides seed_decides = SeedDecides::nothing;
  // A fault reports the call it belongs to; otherwise the progress markers on the streams show it.
  bool fault_names_call = false;
  // The driver encodes TMA descriptors; otherwise Redzone's own rules do.
  bool driver_encodes_descriptors = false;
};

// Which tools can observe kernels on the device.
struct ToolSupport {
  bool compute_sanitizer = false;
  bool checks = false;      // is_check(): the device watches its kernels by itself
  bool core_dumps = false;  // on a fault, for cuda-gdb to read
};

// Costs and timeouts of a worker process.
struct WorkerTraits {
  std::chrono::milliseconds start{10};  // from the fork to the first trial, approximately
  // Nothing that the worker has loaded of targets keeps a device open, so the process can be
  // forked.
  bool has_zygote = false;
  // A context with one hardware queue is made sooner than one with several.
  bool starts_sooner_with_one_queue = false;
  // A warm worker is replaced after this many plans, which bounds the history of a failure.
  std::size_t recycle_after_plans = 200;
  std::chrono::milliseconds trial_deadline{2000};  // unless --deadline says otherwise
  // For trials that are known to hang, when they run again.
  std::chrono::milliseconds hang_deadline{400};
};

struct DeviceTraits {
  DeviceKind kind;
  std::string_view name;             // as --device and errors write it
  std::string_view first_name = {};  // name before the kind was renamed: still accepted; else empty
  // Devices report a product name, "NVIDIA H100 80GB HBM3", and findings are stored under it;
  // otherwise under `name`.
  bool has_product_name = false;
  bool automatic = false;  // --device auto may choose it
  TargetSupport targets = {};
  ExecutionTraits execution = {};
  ToolSupport tools = {};
  WorkerTraits workers = {};

  bool is_named(std::string_view text) const {
    return text == name || (!first_name.empty() && text == first_name);
  }
};

// One for each kind, in the order of DeviceKind.
std::span<const DeviceTraits> all_devices();

const DeviceTraits& traits_of(DeviceKind kind);

// Null for a number that is not a kind, which a broken plugin may give.
const DeviceTraits* find_traits(DeviceKind kind);

// The kind of a device that reports this name (Environment::device). Product names, and "" of a
// finding without a name, belong to the kind with `has_product_name`.
const DeviceTraits& traits_of_device(std::string_view device);

std::string_view name_of(DeviceKind kind);  // "host" | "cuda" | "dry-run"
Result<DeviceKind> parse_device_kind(std::string_view name);

}  // namespace redzone
