// The C interface (public/redzone/worker.h). No exception leaves it.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <limits>

#include "core/exit_code.h"
#include "core/log.h"
#include "core/spec_names.h"
#include "core/terminal.h"
#include "device/cuda/early_memory.h"
#include "python/targets.h"
#include "worker_library/callback_target.h"
#include "worker_library/serve.h"

namespace redzone::worker {
namespace {

// A global, because rz_progress(), rz_compiling() and rz_watch_memory() get no handle: they are for
// code without access to a call, such as hooks of a compiler or an allocator.
CallingProcess* process_here = nullptr;

// Set before rz_worker_main(), because a framework can change its allocator only before it
// allocates.
bool framework_allocates_here = false;

template <class Result, class Code>
Result guarded(Result otherwise, Code code) noexcept {
  try {
    return code();
  } catch (const std::exception&) {
    return otherwise;
  }
}

const Value* knob_of(const Config& config, const char* name) {
  const auto it = config.find(std::string_view(name));
  return it == config.end() ? nullptr : &it->second;
}

std::int64_t dim_of(const Dims& dims, const char* name) {
  const auto it = dims.find(std::string_view(name));
  return it == dims.end() ? -1 : it->second;
}

int is_text(const Config& config, const char* name) {
  const Value* value = knob_of(config, name);
  return value == nullptr ? -1 : static_cast<int>(std::holds_alternative<std::string>(*value));
}

std::int64_t integer_of(const Config& config, const char* name) {
  const Value* value = knob_of(config, name);
  const auto* number = value == nullptr ? nullptr : std::get_if<std::int64_t>(value);
  return number == nullptr ? std::numeric_limits<std::int64_t>::min() : *number;
}

const char* text_in(const Config& config, const char* name) {
  const Value* value = knob_of(config, name);
  const auto* text = value == nullptr ? nullptr : std::get_if<std::string>(value);
  return text == nullptr ? nullptr : text->c_str();
}

// Stores the shape of a tensor of a reference; false for an unknown name.
bool shape_of(const rz_reference& reference, const char* name, std::int64_t* shape, int* rank) {
  const auto& tensors = reference.spec.tensors;
  const auto it = std::find_if(tensors.begin(), tensors.end(),
                               [&](const TensorSpec& t) { return t.name == name; });
  if (it == tensors.end()) return false;
  const Shape extents = it->shape_for(reference.call.dims(), reference.call.config());
  std::copy(extents.begin(), extents.end(), shape);
  *rank = static_cast<int>(extents.size());
  return true;
}

trial::OwnBlocks* own_blocks_here() {
  return process_here == nullptr ? nullptr : process_here->own_blocks();
}

int fail_line(const Error& error) {
  std::fprintf(stderr, "redzone: %s\n", printable(error.message).c_str());
  return error.kind == ErrorKind::usage ? kUsage : kHarness;
}

Result<int> serve_callbacks(std::span<const char* const> words, const char* description,
                            CallingProcess& process) {
  RZ_TRY_ASSIGN(auto options, parse_flags(words));
  options.side.lazy_kernels = true;
  RZ_TRY_ASSIGN(const auto descriptions,
                python::read_descriptions(description, "the description of the targets"));
  OwnTargets own;
  own.add = [&](Registry& registry, device::BlackBox& box) {
    process.set_black_box(box);
    const auto make = [&](const std::shared_ptr<const python::TargetDescription>& target) {
      return std::make_unique<CallbackTarget>(process, target);
    };
    return python::add_targets(registry, descriptions, {.source = TargetSource::python}, make);
  };
  own.trial = [&](bool begins) { process.trial(begins); };
  own.own_blocks = [&](trial::OwnBlocks& blocks) {
    process.set_own_blocks(blocks);
    if (framework_allocates_here) blocks.connect();
  };
  own.guard = [&](memory_preload::GuardedTrials& trials) { process.set_memory(trials); };
  return serve(options, own);
}

}  // namespace
}  // namespace redzone::worker

using namespace redzone;
using namespace redzone::worker;

int rz_worker_abi(void) {
  return RZ_WORKER_ABI;
}

int rz_worker_main(int argc, const char* const* argv, const char* description_json,
                   const rz_callbacks* callbacks) {
  CallingProcess process(*callbacks);
  process_here = &process;
  try {
    const auto code =
        serve_callbacks({argv, static_cast<std::size_t>(argc)}, description_json, process);
    process_here = nullptr;
    return code ? *code : fail_line(code.error());
  } catch (const std::exception& e) {
    process_here = nullptr;
    return fail_line({ErrorKind::harness, e.what()});
  }
}

void rz_error(const char* code, const char* message) {
  if (process_here != nullptr) process_here->set_error({code, message});
}

// ---- functions for a call ----------------------------------------------------------------------

const char* rz_call_target(const rz_call* call) {
  return call->target.name.c_str();
}

int rz_call_index(const rz_call* call) {
  return call->context.index();
}

int64_t rz_call_repeat(const rz_call* call) {
  return call->context.repeat();
}

uint64_t rz_call_seed(const rz_call* call) {
  return call->context.seed();
}

int64_t rz_dim(const rz_call* call, const char* name) {
  return dim_of(call->context.dims(), name);
}

int rz_knob_is_text(const rz_call* call, const char* name) {
  return is_text(call->context.config(), name);
}

int64_t rz_knob_integer(const rz_call* call, const char* name) {
  return integer_of(call->context.config(), name);
}

const char* rz_knob_text(const rz_call* call, const char* name) {
  return text_in(call->context.config(), name);
}

int rz_call_tensor(rz_call* call, const char* name, rz_tensor* out) {
  return guarded(-1, [&] {
    const TensorArg tensor = call->context.tensor(name);
    const auto storage = call->context.storage(name);
    out->data = tensor.base;
    out->dtype = name_of(tensor.dtype).data();  // the text is a literal
    out->rank = static_cast<int>(tensor.shape.size());
    std::copy(tensor.shape.begin(), tensor.shape.end(), out->shape);
    std::copy(tensor.strides.begin(), tensor.strides.end(), out->strides);
    out->storage = storage.data();
    out->storage_bytes = storage.size();
    return 0;
  });
}

int rz_call_device(const rz_call* call) {
  return static_cast<int>(call->context.device());
}

void* rz_call_stream(rz_call* call) {
  return guarded(static_cast<void*>(nullptr), [&] { return call->context.stream(); });
}

void* rz_call_allocate(rz_call* call, const char* name, uint64_t bytes) {
  return guarded(static_cast<void*>(nullptr),
                 [&] { return call->context.allocate(name, bytes, 0); });
}

void rz_call_free(rz_call* call, void* at) {
  guarded(0, [&] {
    call->context.free(at, 0);
    return 0;
  });
}

void rz_call_fail(rz_call* call, const char* code, const char* message) {
  call->context.fail(code, message);
}

void rz_call_unsupported(rz_call* call, const char* reason) {
  call->context.unsupported(reason);
}

int rz_call_ended(const rz_call* call) {
  return call->context.ended() ? 1 : 0;
}

// ---- functions for a reference -----------------------------------------------------------------

int64_t rz_reference_dim(const rz_reference* reference, const char* name) {
  return dim_of(reference->call.dims(), name);
}

int rz_reference_knob_is_text(const rz_reference* reference, const char* name) {
  return is_text(reference->call.config(), name);
}

int64_t rz_reference_knob_integer(const rz_reference* reference, const char* name) {
  return integer_of(reference->call.config(), name);
}

const char* rz_reference_knob_text(const rz_reference* reference, const char* name) {
  return text_in(reference->call.config(), name);
}

int rz_reference_input(rz_reference* reference, const char* name, const double** at,
                       uint64_t* count, int64_t* shape, int* rank) {
  return guarded(-1, [&] {
    const auto values = reference->call.input(name);
    *at = values.data();
    *count = values.size();
    return shape_of(*reference, name, shape, rank) ? 0 : -1;
  });
}

int rz_reference_output(rz_reference* reference, const char* name, double** at, uint64_t* count,
                        int64_t* shape, int* rank) {
  return guarded(-1, [&] {
    const auto values = reference->call.output(name);
    *at = values.data();
    *count = values.size();
    return shape_of(*reference, name, shape, rank) ? 0 : -1;
  });
}

void rz_reference_fail(rz_reference* reference, const char* message) {
  if (reference->failure.empty())
    reference->failure = *message == '\0' ? "the reference failed" : message;
}

void rz_reference_returned(rz_reference* reference, const char* what) {
  if (!reference->failure.empty()) return;
  reference->failure = std::string("returned ") + what;
  reference->returned = true;
}

// ---- functions for the process -----------------------------------------------------------------

void rz_progress(const char* what) {
  if (process_here == nullptr) return;
  process_here->show_progress();
  log::info("worker: {}", what);
}

void rz_compiling(const char* what) {
  if (process_here != nullptr) process_here->show_compiling();
  rz_progress(what);
}

void rz_watch_memory(void* at, uint64_t bytes, const char* name) {
  if (process_here == nullptr || process_here->current == nullptr) return;
  guarded(0, [&] {
    process_here->current->watch_memory(name, at, bytes);
    return 0;
  });
}

// ---- functions for the framework's allocator ---------------------------------------------------

void rz_use_allocator(void) {
  framework_allocates_here = true;
}

void* rz_allocate(int64_t bytes, int, void* stream) {
  if (bytes <= 0) return nullptr;
  const auto count = static_cast<std::size_t>(bytes);
  trial::OwnBlocks* const blocks = own_blocks_here();
  return guarded(static_cast<void*>(nullptr), [&] {
    return blocks == nullptr ? device::allocate_early(count) : blocks->allocate(count, stream);
  });
}

void rz_free(void* at, int64_t, int, void*) {
  trial::OwnBlocks* const blocks = own_blocks_here();
  guarded(0, [&] {
    if (at != nullptr && (blocks == nullptr || !blocks->free(at))) device::free_early(at);
    return 0;
  });
}

void rz_use_on(void* at, void* stream) {
  guarded(0, [&] {
    if (trial::OwnBlocks* const blocks = own_blocks_here()) blocks->use_on(at, stream);
    return 0;
  });
}

void rz_host_waits(void) {
  guarded(0, [&] {
    if (trial::OwnBlocks* const blocks = own_blocks_here()) blocks->open_gate();
    return 0;
  });
}
