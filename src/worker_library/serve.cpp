#include "worker_library/serve.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cstdio>
#include <optional>
#include <utility>

#include "core/device_traits.h"
#include "core/exit_code.h"
#include "device/devices.h"
#include "exec/serve_forks.h"
#include "exec/worker_loop.h"
#include "trial/device_trial_host.h"

namespace redzone::worker {
namespace {

// Notifies the process when a trial begins and when it has ended.
class AnnouncedTrials final : public exec::TrialHost {
 public:
  AnnouncedTrials(exec::TrialHost& trials, const std::function<void(bool)>& announce)
      : trials_(trials), announce_(announce) {}
  exec::Hello hello() override { return trials_.hello(); }
  Observation run(const Plan& plan, const TrialSpec& trial) override {
    if (announce_) announce_(true);
    Observation seen = trials_.run(plan, trial);
    if (announce_) announce_(false);
    return seen;
  }
  bool device_lost() const override { return trials_.device_lost(); }

 private:
  exec::TrialHost& trials_;
  const std::function<void(bool)>& announce_;
};

// The library preloaded for targets that use host memory; nullopt if it is not preloaded.
std::optional<memory_preload::Client> preloaded_memory(device::Device& device) {
  if (!traits_of(device.info().kind).execution.on_host_cores) return std::nullopt;
  auto client = memory_preload::Client::find();
  if (!client) return std::nullopt;
  client->arm();
  device.set_other_blocks(memory_preload::Client::finder());
  return client;
}

Result<int> serve_trials(const WorkerOptions& options, const OwnTargets& own,
                         std::optional<Registry> loaded, bool is_fork) {
  void* page = mmap(nullptr, sizeof(device::BlackBox), PROT_READ | PROT_WRITE, MAP_SHARED,
                    options.black_box_fd, 0);
  if (page == MAP_FAILED) return harness_error("cannot map the black box");
  auto& box = *static_cast<device::BlackBox*>(page);  // used until the process ends

  RZ_TRY_ASSIGN(auto side, open_worker_side(options.side, std::move(loaded)));
  if (own.add) RZ_TRY(own.add(side.registry, box));
  const auto client = preloaded_memory(*side.device);
  trial::DeviceTrialHost trials(std::move(side.device), side.registry, &box,
                                device::look_for(options.side.device).nvrtc, options.sanitizer);
  if (own.own_blocks) own.own_blocks(trials.own_blocks());
  memory_preload::GuardedTrials guarded(trials, client);
  if (own.guard) own.guard(guarded);
  AnnouncedTrials announced(guarded, own.trial);
  const int code = exec::worker_loop(options.socket_fd, announced, box);
  // A fork exits without cleanup: releasing the memory that it shares with the zygote would copy
  // the pages first, which takes longer than most trials.
  if (is_fork) {
    std::fflush(nullptr);
    ::_exit(code);
  }
  return code;
}

}  // namespace

Result<int> serve(const WorkerOptions& options, const OwnTargets& own) {
  if (!options.zygote) return serve_trials(options, own, std::nullopt, false);
  ::close(options.black_box_fd);  // each fork has its own black box
  RZ_TRY_ASSIGN(auto loaded, load_worker_targets(options.side));
  auto forked = exec::serve_forks(options.socket_fd);
  if (!forked) return kOk;
  WorkerOptions of_fork = options;
  of_fork.socket_fd = forked->socket.get();
  of_fork.black_box_fd = forked->black_box.get();
  return serve_trials(of_fork, own, std::move(loaded), true);
}

}  // namespace redzone::worker
