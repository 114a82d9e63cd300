#include "engine/guard_proof.h"

#include <fmt/format.h>

#include <chrono>
#include <filesystem>

#include "guard/guarded_run.h"

namespace redzone::engine {
namespace {

constexpr std::chrono::seconds kLimit{30};

}  // namespace

Result<std::string> prove_guard(GuardedMemory memory) {
  const bool driver = memory == GuardedMemory::driver;
  RZ_TRY_ASSIGN(const auto library, guard::guard_library());
  std::error_code error;
  const auto self = std::filesystem::read_symlink("/proc/self/exe", error);
  if (error) return harness_error("guard: /proc/self/exe cannot be read: " + error.message());
  guard::RunRequest request{.started = {{self.string(), kPlantedCommand}, {}, {}},
                            .library = library,
                            .settings = {},
                            .limit = kLimit};
  if (driver) request.started.argv.emplace_back(kPlantedDriver);
  request.settings.cpu = !driver;
  const auto run = guard::run_guarded(request);
  if (!run) return harness_error("guard: " + run.error().why);
  for (const auto& found : run->findings())
    if (found.first.on_device == driver && found.first.side == guard::Side::after)
      return fmt::format("finds a planted overrun: {}", guard::signature(found.first));
  if (!run->is_judged())
    return harness_error("guard: the process with the planted overrun was not judged");
  return harness_error(
      fmt::format("guard: a planted overrun was not found; the process ended with "
                  "{}",
                  run->ended.exit_code));
}

}  // namespace redzone::engine
