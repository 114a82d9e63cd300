// A target whose code is the callbacks of a process that loads the library.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "device/black_box.h"
#include "memory_preload/guarded_trials.h"
#include "python/description.h"
#include "trial/collecting_target.h"
#include "trial/own_blocks.h"
#include "trial/thrown.h"
#include "worker_library/public/redzone/worker.h"

// Types behind the C handles of one call and one reference.
struct rz_call {
  redzone::trial::CallContext& context;
  const redzone::python::TargetDescription& target;
};

struct rz_reference {
  redzone::ReferenceCall& call;
  const redzone::TargetSpec& spec;
  std::string failure = {};
  bool returned = false;  // `failure` describes the result, as a verb phrase
};

namespace redzone::worker {

// The process that loads the library, while rz_worker_main() runs.
class CallingProcess {
 public:
  explicit CallingProcess(const rz_callbacks& callbacks) : callbacks_(callbacks) {}

  const rz_callbacks& callbacks() const { return callbacks_; }
  // The instance for a new trial; the same one each time for a target that lives with the process.
  // Throws if make() fails: the error of set_error() if there is one, else std::runtime_error.
  int make(const python::TargetDescription& target);
  void destroy(const python::TargetDescription& target, int instance);
  void trial(bool begins);

  // Sets the error of the make() call that is failing.
  void set_error(trial::CodedError error) { error_ = std::move(error); }
  // Reports progress of the trial; may be called from any thread.
  void set_black_box(device::BlackBox& box) { box_ = &box; }
  void show_progress();
  void show_compiling();
  // Attributes the allocations of the target's code to `call` (-1: to no call). Set before the
  // first trial.
  void set_memory(memory_preload::GuardedTrials& trials) { memory_ = &trials; }
  memory_preload::GuardedCode guarded_code(std::int32_t call) { return {*memory_, call}; }

  // Handles the framework's allocations on the device; null before the device is open.
  void set_own_blocks(trial::OwnBlocks& blocks) { own_blocks_ = &blocks; }
  trial::OwnBlocks* own_blocks() const { return own_blocks_; }

  // The call for which a callback runs; null between calls.
  trial::CallContext* current = nullptr;

 private:
  rz_callbacks callbacks_;
  std::map<std::string, int, std::less<>> lasting_;  // instances that live with the process
  std::optional<trial::CodedError> error_;
  device::BlackBox* box_ = nullptr;
  memory_preload::GuardedTrials* memory_ = nullptr;
  trial::OwnBlocks* own_blocks_ = nullptr;
};

class CallbackTarget final : public trial::CollectingTarget {
 public:
  // `process` must outlive this object.
  CallbackTarget(CallingProcess& process,
                 std::shared_ptr<const python::TargetDescription> description);
  ~CallbackTarget() override;
  CallbackTarget(const CallbackTarget&) = delete;
  CallbackTarget& operator=(const CallbackTarget&) = delete;

  void run(Context& ctx) override;
  void collect(trial::CallContext& ctx) override;
  void reference(ReferenceCall& call) const override;

 private:
  void call(trial::CallContext& ctx, void (*callback)(void*, int, rz_call*));

  CallingProcess& process_;
  std::shared_ptr<const python::TargetDescription> description_;
  TargetSpec spec_;
  int instance_;
};

}  // namespace redzone::worker
