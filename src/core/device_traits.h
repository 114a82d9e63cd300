// What is true of each kind of device: what it can do, what is judged there and what its workers
// cost. Code outside src/device asks for one of these facts and does not branch on the kind, so
// that a new kind is one more row of the table in device_traits.cpp.
#pragma once

#include <redzone/spec.h>

#include <chrono>
#include <cstddef>
#include <optional>
#include <span>
#include <string_view>

#include "core/error.h"

namespace redzone {

// The targets that run there.
struct TargetSupport {
  // Plugins are built for another kind, whose targets run here unless there is one of the same name
  // for this kind; absent: plugins are built for this kind.
  std::optional<DeviceKind> runs_plugins_of = {};
  bool launches_cubins = false;            // packages of compiled CUDA kernels have targets for it
  bool checks_compute_capability = false;  // that a target asks for: TargetSpec::min_..., only_...
  bool needs_nvrtc = false;                // for targets whose spec says so
};

// How kernels run.
struct ExecutionTraits {
  bool runs_kernels = true;  // false: launchers are judged, and buffers hold nothing
  // A trial keeps a core of the host busy; else the device is apart, and one worker keeps it busy.
  bool on_host_cores = false;
  bool in_host_memory = false;  // buffers take host memory, which the driver process needs as well
  // Mode::schedule_seed decides how blocks, threads and streams interleave; else it has no effect.
  bool seeded_schedules = false;
  // A fault says which call it belongs to; else progress marks on the streams tell.
  bool fault_names_call = false;
  // A driver encodes TMA descriptors; else Redzone's own rules do.
  bool driver_encodes_descriptors = false;
};

// Tools that see what kernels do on it.
struct ToolSupport {
  bool compute_sanitizer = false;
  bool core_dumps = false;  // on a fault, for cuda-gdb to read
};

// What a worker process costs, and how long it is waited for.
struct WorkerTraits {
  std::chrono::milliseconds start{10};  // from the fork to the first trial, roughly
  // A warm worker is replaced after this many plans, which bounds the history of a failure.
  std::size_t recycle_after_plans = 200;
  std::chrono::milliseconds trial_deadline{2000};  // unless --deadline says otherwise
  // Of trials that are known to hang, when they run again.
  std::chrono::milliseconds hang_deadline{400};
};

struct DeviceTraits {
  DeviceKind kind;
  std::string_view name;             // as --device and the errors have it
  std::string_view first_name = {};  // of a kind that was renamed: it is still read; else empty
  // Its devices call themselves by the name of a product, "NVIDIA H100 80GB HBM3", and findings are
  // stored under that name; else by `name`.
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

// Null for a number that is no kind, as a broken plugin may give.
const DeviceTraits* find_traits(DeviceKind kind);

// What a device is that calls itself so (Environment::device). The name of a product, and "" for
// a finding that came without, is that of the kind whose devices have such names.
const DeviceTraits& traits_of_device(std::string_view device);

std::string_view name_of(DeviceKind kind);  // "host" | "cuda" | "dry-run"
Result<DeviceKind> parse_device_kind(std::string_view name);

}  // namespace redzone
