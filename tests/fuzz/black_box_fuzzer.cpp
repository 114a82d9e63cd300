// The memory that a worker leaves behind: a black box with arbitrary contents, read like the driver
// reads it.
#include <algorithm>
#include <csignal>
#include <cstring>

#include "exec/fault_attribution.h"
#include "exec/shared_box.h"
#include "fuzz/harness.h"

using namespace redzone;

namespace {

void require_known(const Observation& seen, const exec::TrialContext& trial) {
  if (!seen.fault) return;
  fuzz::require(seen.fault->call >= -1 && seen.fault->call < trial.calls,
                "a call that is blamed is one of the plan");
  fuzz::require(seen.fault->side <= Side::inside && seen.fault->access <= Access::write,
                "side and access are enumerators");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static auto shared = exec::SharedBox::create();
  fuzz::require(shared.has_value(), "a black box can be made");
  if (size < 3) return 0;
  const exec::Exit exit{data[0] % 65, data[1]};
  const exec::TrialContext trial{static_cast<Launch>(data[2] % 3), (data[2] >> 2) % 8};
  const std::string_view rest = fuzz::text_of(data + 3, size - 3);
  const std::size_t bytes = std::min(rest.size(), sizeof(device::BlackBox));
  std::memset(static_cast<void*>(&shared->box()), 0, sizeof(device::BlackBox));
  std::memcpy(static_cast<void*>(&shared->box()), rest.data(), bytes);
  const device::BlackBox box = shared->snapshot();
  require_known(exec::observe_exit(exit, box, trial, rest.substr(bytes)), trial);
  require_known(exec::observe_hang(box, trial, std::chrono::milliseconds(100)), trial);
  return 0;
}
