#include "worker_library/callback_target.h"

#include <atomic>
#include <stdexcept>
#include <utility>

#include "core/device_traits.h"
#include "core/error.h"
#include "core/spec_mistake.h"

namespace redzone::worker {

int CallingProcess::make(const python::TargetDescription& target) {
  if (const auto it = lasting_.find(target.name); it != lasting_.end()) return it->second;
  error_.reset();
  const auto code = guarded_code(-1);
  const int instance = callbacks_.make(callbacks_.user, target.name.c_str());
  if (instance < 0 && error_) throw *error_;
  if (instance < 0) throw std::runtime_error("the target could not be made");
  if (target.lives_with_process) lasting_.emplace(target.name, instance);
  return instance;
}

void CallingProcess::destroy(const python::TargetDescription& target, int instance) {
  if (!target.lives_with_process) callbacks_.destroy(callbacks_.user, instance);
}

void CallingProcess::trial(bool begins) {
  if (callbacks_.trial != nullptr) callbacks_.trial(callbacks_.user, begins ? 1 : 0);
}

void CallingProcess::show_progress() {
  if (box_ != nullptr) std::atomic_ref(box_->progress).fetch_add(1, std::memory_order_relaxed);
}

void CallingProcess::show_compiling() {
  if (box_ != nullptr) std::atomic_ref(box_->compiling).fetch_add(1, std::memory_order_relaxed);
}

CallbackTarget::CallbackTarget(CallingProcess& process,
                               std::shared_ptr<const python::TargetDescription> description)
    : process_(process),
      description_(std::move(description)),
      spec_(python::spec_of(description_)),
      instance_(process_.make(*description_)) {}

CallbackTarget::~CallbackTarget() {
  process_.destroy(*description_, instance_);
}

void CallbackTarget::call(trial::CallContext& ctx, void (*callback)(void*, int, rz_call*)) {
  rz_call handle{ctx, *description_};
  process_.current = &ctx;
  callback(process_.callbacks().user, instance_, &handle);
  process_.current = nullptr;
}

void CallbackTarget::run(Context& ctx) {
  if (!traits_of(ctx.device()).execution.runs_kernels)
    return ctx.unsupported("the target computes in its own process, where nothing can be left out");
  // The runner of a worker creates no other contexts.
  auto* const own = dynamic_cast<trial::CallContext*>(&ctx);
  RZ_CHECK(own != nullptr);
  const auto code = process_.guarded_code(own->index());
  call(*own, process_.callbacks().run);
}

void CallbackTarget::collect(trial::CallContext& ctx) {
  if (process_.callbacks().collect != nullptr) call(ctx, process_.callbacks().collect);
}

void CallbackTarget::reference(ReferenceCall& call) const {
  if (process_.callbacks().reference == nullptr)
    throw SpecError("the description has a reference, and there is no callback for it");
  rz_reference handle{call, spec_};
  process_.callbacks().reference(process_.callbacks().user, description_->name.c_str(), &handle);
  if (handle.returned)
    throw SpecMistake(SpecMistake::Kind::of_the_call, description_->name, "reference()",
                      handle.failure, "");
  if (!handle.failure.empty()) throw std::runtime_error(handle.failure);
}

}  // namespace redzone::worker
