// The public API of a target, for plugin authors.
//
// A target is one kernel or a small pipeline. It declares what it accepts (`TargetSpec`, in
// <redzone/spec.h>) and runs one call at a time on buffers that Redzone owns:
//
//     struct Scale : redzone::Target {
//       static redzone::TargetSpec spec();
//       void run(redzone::Context& ctx) override {
//         auto x = ctx.tensor("x"), y = ctx.tensor("y");
//         int n = int(ctx.dim("N"));
//         redzone::launch(ctx, "scale", scale_kernel, {{(n + 255) / 256}, {256}},
//                         x.data<float>(), y.data<float>(), n);
//       }
//       void reference(redzone::ReferenceCall& call) const override;   // optional
//     };
//     REDZONE_PLUGIN(registrar) { registrar.add<Scale>(); }
//
// The same source is compiled twice: by nvcc for the GPU and by g++ for the host device (kernels
// include <redzone/kernel.h>, which defines the CUDA keywords for g++). Each compiler makes one
// shared object.
//
// Threads: members of a target are never called at the same time. In some plans (`callers =
// "each"`) each step calls run() from a separate host thread. That thread ends, with its
// thread_local objects, before the next step begins, and the destructors of these objects may use
// the Context of the last call that the thread has made. Everything else is called from one thread.
// Ownership: Redzone owns the memory behind every pointer that a Context returns. Tensors and
// scratch are valid until the work has run that their call had enqueued on its own stream when
// run() returned; then they may belong to a later call, with other contents (`addresses =
// "reused"`). Memory of allocate() is valid until free(), and a growing workspace until it grows;
// all other memory is valid until the trial ends.
#pragma once

#include <redzone/spec.h>
#include <redzone/tensor_map.h>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

#ifdef __CUDACC__
#include <cuda_runtime_api.h>
#else
#include <redzone/host_thread.h>
#endif

// Increment when a type in this header or in one that it includes changes.
#define REDZONE_ABI_VERSION 13

namespace redzone {

// A tensor argument of a call. `shape` and `strides` (elements) have the same length; element
// [i0, i1, ...] is at `base + sum(i_k * strides[k])`.
struct TensorArg {
  void* base = nullptr;
  DType dtype = DType::f32;
  std::span<const std::int64_t> shape;
  std::span<const std::int64_t> strides;

  template <class T>
  T* data() const {
    return static_cast<T*>(base);
  }
  std::int64_t numel() const {
    std::int64_t n = 1;
    for (auto s : shape) n *= s;
    return n;
  }
};

// 64-bit, so that an extent that overflowed or is negative reaches Redzone unchanged.
struct Extent {
  std::int64_t x = 1, y = 1, z = 1;
};

struct LaunchShape {
  Extent grid = {};
  Extent block = {};
  std::size_t shared_bytes = 0;  // dynamic shared memory of one block
  // Stream of the call: 0 its own, 1 .. TargetSpec::side_streams the target's side streams.
  int stream = 0;
  // CTAs of a thread block cluster. The grid counts CTAs and must be a multiple of the cluster.
  Extent cluster = {};
  bool cooperative = false;  // all CTAs of the grid run at the same time
  // Programmatic dependent launch: the kernel may start before the preceding kernel on the stream
  // has ended, see wait_for_producer() in <redzone/kernel.h>. On the host device a schedule seed
  // determines how far the two overlap; kernels in a graph do not overlap. `cluster` and
  // `cooperative` work on CUDA only.
  bool dependent = false;
};

// A graph that a target captured; 0: none.
struct GraphRef {
  int id = 0;
  explicit operator bool() const { return id != 0; }
};

// A kernel that can be launched. On CUDA `function` is a CUfunction. On the host device it is the
// function itself, `thunk(function, args)` runs one thread of it, and `host_thread` points to the
// host::Thread from which the kernel reads its indices.
struct KernelRef {
  const char* name = "";
  void* function = nullptr;
  void (*thunk)(void* function, void* const* args) = nullptr;
  void* host_thread = nullptr;
};

// Arguments of a launch, copied before `Context::launch` returns.
struct LaunchArgs {
  void* const* pointers = nullptr;
  const std::size_t* sizes = nullptr;
  std::size_t count = 0;
};

// A kernel compiled on first use. On CUDA NVRTC compiles `source` for `expression`, a template
// instance such as "scan<float, 32>"; the host device uses `host`, the same instance compiled ahead
// of time. Redzone caches by (source, expression, options) and never returns another variant: a
// target that models a faulty cache must have its own cache on top.
struct VariantRequest {
  const char* name = "";
  std::string_view source = {};
  std::string expression = {};
  std::vector<std::string> options = {};  // e.g. "-DN=4"
  KernelRef host = {};
  // A cubin. If set, `expression` is the name of its kernel, and `source` and `options` are
  // ignored. The bytes are read at the first request only.
  std::string_view image = {};
};

// Scratch that a compiled kernel needs according to its metadata, for example Triton's
// `global_scratch_size`, `global_scratch_align` and `num_ctas`: the kernel uses `bytes_per_cta`
// bytes for each CTA, so its launcher must provide
//     grid.x * grid.y * grid.z * num_ctas * bytes_per_cta
// bytes (Triton 3.6, CudaLauncher in its NVIDIA backend's driver.py).
struct ScratchNeed {
  std::size_t bytes_per_cta = 0;
  Extent grid = {};       // programs: clusters if num_ctas > 1, blocks otherwise
  int num_ctas = 1;       // CTAs of a cluster
  std::size_t align = 1;  // alignment of the first byte
};

// The dims and knobs of a call. dim(), knob() and knob_str() throw SpecError for a name that the
// spec does not declare, and if the knob has the other type.
class CallArguments {
 public:
  virtual ~CallArguments() = default;
  virtual const Dims& dims() const = 0;
  virtual const Config& config() const = 0;

  std::int64_t dim(std::string_view name) const { return get(dims(), name); }
  std::int64_t knob(std::string_view name) const { return get_int(config(), name); }
  const std::string& knob_str(std::string_view name) const { return get_str(config(), name); }
};

// Interface of one call. All of its memory is guarded; see docs/concepts.md.
class Context : public CallArguments {
 public:
  // Throws SpecError for a name that the spec does not declare.
  virtual TensorArg tensor(std::string_view name) const = 0;
  virtual DeviceKind device() const = 0;
  // Multiprocessors of the device, for persistent grids.
  virtual int multiprocessors() const = 0;

  // cudaStream_t on CUDA, an opaque handle on the host device. Enqueue all work on this stream; do
  // not synchronize.
  virtual void* stream() const = 0;
  // Stream `index` of the call: 0 its own, 1 .. TargetSpec::side_streams the target's side streams.
  // Any other index ends the call with an error and returns nullptr; the members below treat it the
  // same way.
  virtual void* stream(int index) const = 0;
  // Work enqueued on `stream` from now on waits for all work enqueued on `on` so far (an event is
  // recorded and waited for).
  virtual void wait(int stream, int on) = 0;

  // Uninitialized memory for this call. If memory is exhausted, returns nullptr and ends the call.
  virtual void* scratch(std::string_view name, std::size_t bytes, std::size_t align = 256) = 0;
  // As above, with the kernel's own need in addition to its launcher's request, so that a dry run
  // can compare the two. The launcher gets the size that it requests, regardless of the need; for 0
  // bytes it gets a null pointer, which does not end the call.
  virtual void* scratch(std::string_view name, std::size_t bytes, std::size_t align,
                        const ScratchNeed& need) = 0;
  // Memory that lives for the whole trial: zeroed on first use, then left unchanged between calls.
  // The first request determines the size; a larger later request ends the call with an error.
  virtual void* workspace(std::string_view name, std::size_t bytes, std::size_t align = 256) = 0;
  // Like workspace(), but replaced by a larger workspace if a call needs more. Growing frees the
  // old memory, and allocates and zeroes new memory, as by free(), allocate() and memset() on the
  // call's own stream; the first request allocates and zeroes in the same way. The caller must
  // order a stream that uses the old memory before these operations, and a stream that uses the new
  // memory after them. 256-byte aligned. Must not be passed to free(). Ends the call as unsupported
  // if the workspace would grow in a capture or after a capture has used it, because a graph keeps
  // the memory that it was captured with.
  virtual void* growing_workspace(std::string_view name, std::size_t bytes) = 0;

  // Memory from the allocator of the plan's mode, to be used in the order of stream `stream` of the
  // call. `name` identifies it in reports. It may be memory that was freed on that stream before.
  // Uninitialized; 256-byte aligned. Lives until free() or the end of the trial.
  virtual void* allocate(std::string_view name, std::size_t bytes, int stream = 0) = 0;
  // Work on `stream` may reuse the memory from now on; other streams are not ordered with the free.
  // A pointer that allocate() did not return, or that is already freed, ends the call with an
  // error; null is ignored.
  virtual void free(void* p, int stream = 0) = 0;
  // Pinned host memory, identified by name, which kernels can access, too. Zeroed at the first
  // request, whose size later requests must not exceed; lives for the whole trial. Running work
  // sees the CPU's writes immediately.
  virtual void* pinned_memory(std::string_view name, std::size_t bytes) = 0;
  // Older name of pinned_memory().
  void* host_memory(std::string_view name, std::size_t bytes) { return pinned_memory(name, bytes); }
  // Copies in the order of `stream`, between device memory and pinned_memory() in any direction;
  // other host memory ends the call with an error. The source is read when the copy runs.
  virtual void copy(void* to, const void* from, std::size_t bytes, int stream = 0) = 0;
  // Sets the bytes to `value` in the order of `stream`, like cudaMemsetAsync(), in device memory or
  // pinned_memory(); other host memory ends the call with an error.
  virtual void memset(void* to, std::uint8_t value, std::size_t bytes, int stream = 0) = 0;

  // Encodes a TMA descriptor for kernels that include <redzone/bulk_copy.h>: with
  // cuTensorMapEncodeTiled on CUDA, according to Redzone's rules on the host device (`redzone tma
  // explain` explains them). `name` is the tensor's name in reports. A refused encode does not end
  // the call and leaves `map` unchanged; it is recorded with the violated rule, and reported with
  // the outcome of the call.
  virtual EncodeStatus encode_tiled(std::string_view name, const tma::Descriptor& descriptor,
                                    TensorMap& map) = 0;

  virtual KernelRef variant(const VariantRequest& request) = 0;
  // Enqueues a launch. A launch that the device refuses is recorded; later launches of the call are
  // dropped.
  virtual void launch(const KernelRef& kernel, const LaunchShape& shape,
                      const LaunchArgs& args) = 0;

  // Until end_capture(), work that the call enqueues is recorded and does not run, on its own
  // stream and on side streams that wait for it. Such side streams must be joined again (waited
  // for) before the end. Fills of scratch() and workspace() stay outside of the graph: their
  // contents are ready, in stream order, once end_capture() returns. Captures do not nest: a call
  // that Redzone captures itself ends here as unsupported (see TargetSpec::capturable), and so does
  // a call with work that cannot be captured.
  virtual void begin_capture() = 0;
  // Ends the capture. The graph lives until the end of the trial, so a later call may replay it.
  virtual GraphRef end_capture() = 0;
  // Enqueues a graph; two launches of one graph are ordered even on different streams.
  virtual void replay(const GraphRef& graph, int stream = 0) = 0;

  // The target's own wrapper refused the call: a campaign then runs the plan without this call.
  virtual void unsupported(std::string reason) = 0;
  // The target's own wrapper failed (a library returned an error). This is a finding.
  virtual void fail(std::string code, std::string message) = 0;
  // True once the call has failed or is unsupported: return from run().
  virtual bool ended() const = 0;
};

// One call for the reference: inputs and outputs as doubles, contiguous, in logical (row-major)
// order, regardless of the layout on the device. Inputs are exactly the values that the kernel saw,
// except for integers beyond 2^53, which are rounded to a double (outputs, too, before they are
// compared). A complex element is two doubles, its real and its imaginary part: spans are twice as
// long. A bool is the number in its byte.
class ReferenceCall : public CallArguments {
 public:
  virtual std::span<const double> input(std::string_view name) const = 0;  // in and inout
  virtual std::span<double> output(std::string_view name) = 0;  // out (zeros) and inout (a copy)
};

// Some rows of the outputs of one call, for the reference of a call that is too large to be
// computed completely. A row consists of the elements that one index of every dim except the last
// selects; rows are counted in row-major order, regardless of the layout on the device. A tensor of
// one dim is one row. Values are those of ReferenceCall: a complex element takes two columns.
class SampledCall : public CallArguments {
 public:
  // The rows of an output (out or inout) whose expected values are requested: ascending, distinct.
  virtual std::span<const std::int64_t> rows(std::string_view output) const = 0;
  // Receives the expected values of row `rows(name)[i]`. Contains zeros (out), or the row before
  // the call (inout).
  virtual std::span<double> output(std::string_view name, std::size_t i) = 0;

  // `count` consecutive rows of an input (in or inout). The rows are computed by this function:
  // request only what is needed. Valid until the next call for the same input, which reuses the
  // memory: copy values that are needed longer.
  virtual std::span<const double> input(std::string_view name, std::int64_t first_row,
                                        std::int64_t count) = 0;
  // One element of an input.
  virtual double input_at(std::string_view name, std::int64_t row, std::int64_t column) = 0;
};

// A new instance is created for every trial: its members are the state that one call leaves for the
// next. C++ statics live longer, as they would in production.
class Target {
 public:
  virtual ~Target() = default;
  // Enqueues one call on ctx.stream(). An exception is a failure of the call, identified by the
  // type and text of the exception.
  virtual void run(Context& ctx) = 0;
  // Expected outputs in float64. Only called if the spec sets `has_reference`. An exception is
  // reported, but is not a failure of the call.
  virtual void reference(ReferenceCall&) const {
    throw SpecError("the spec says has_reference, and reference() is not implemented");
  }
  // Expected values of some rows of the outputs, for calls that are too large for reference(). Only
  // called if the spec sets `sampled_rows`. It must agree with reference().
  virtual void reference_rows(SampledCall&) const {
    throw SpecError("the spec says sampled_rows, and reference_rows() is not implemented");
  }
};

namespace detail {

// Whether T or a base of T implements reference(); also true if this cannot be determined here.
template <class T>
constexpr bool implements_reference() {
  if constexpr (requires { &T::reference; })
    return !std::is_same_v<decltype(&T::reference), void (Target::*)(ReferenceCall&) const>;
  else
    return true;
}
// Like implements_reference(), for reference_rows().
template <class T>
constexpr bool implements_reference_rows() {
  if constexpr (requires { &T::reference_rows; })
    return !std::is_same_v<decltype(&T::reference_rows), void (Target::*)(SampledCall&) const>;
  else
    return true;
}

}  // namespace detail

using TargetFactory = std::function<std::unique_ptr<Target>()>;

class Registrar {
 public:
  virtual ~Registrar() = default;
  virtual void add(TargetSpec spec, TargetFactory make) = 0;
  // `function` is called once in each worker process, before its first trial, when the device is
  // open, the kernels of the plugin are loaded and nothing is in flight. For actions that happen
  // once per process, such as creating handles of a library. The worker waits for the work that it
  // enqueues; if it throws, or that work fails, the worker does not start. It is not timed, and no
  // trial repeats it.
  virtual void warm_up(std::function<void()> function) = 0;
  template <class T>
  void add() {
    TargetSpec spec = T::spec();
    if (spec.has_reference && !detail::implements_reference<T>())
      throw SpecError("target '" + spec.name +
                      "' says has_reference, and does not implement reference()");
    if (spec.sampled_rows > 0 && !detail::implements_reference_rows<T>())
      throw SpecError("target '" + spec.name +
                      "' says sampled_rows, and does not implement reference_rows()");
    add(std::move(spec), [] { return std::make_unique<T>(); });
  }
};

// Returned by the entry point of a plugin; lives as long as the plugin is loaded.
struct PluginInfo {
  std::uint32_t abi_version;
  DeviceKind device;
  void (*register_targets)(Registrar&);
  // Called once in a worker, with its device open and nothing in flight; null: nothing to do. On
  // CUDA it loads the kernels of the plugin, because loading one later waits for the device, and in
  // a trial with a blocked launch this wait would never end.
  void (*preload)();
};

// ---- Launching ---------------------------------------------------------------------------------

namespace detail {

template <class... P, std::size_t... I>
void run_thread(void* function, void* const* args, std::index_sequence<I...>) {
  reinterpret_cast<void (*)(P...)>(function)(*static_cast<std::decay_t<P>*>(args[I])...);
}

template <class... P>
void thread_thunk(void* function, void* const* args) {
  run_thread<P...>(function, args, std::index_sequence_for<P...>{});
}

}  // namespace detail

// A reference to a `__global__` function of this plugin.
template <class... P>
KernelRef kernel_ref(const char* name, void (*kernel)(P...)) {
  static_assert((std::is_trivially_copyable_v<std::decay_t<P>> && ...),
                "kernel parameters are copied as bytes");
#ifdef __CUDACC__
  cudaFunction_t function = nullptr;
  cudaGetFuncBySymbol(&function, reinterpret_cast<const void*>(kernel));
  return {name, static_cast<void*>(function), nullptr, nullptr};
#else
  return {name, reinterpret_cast<void*>(kernel), &detail::thread_thunk<P...>, &host::self};
#endif
}

// Launches a KernelRef; the arguments must have exactly the kernel's parameter types.
template <class... A>
void launch_exact(Context& ctx, const KernelRef& kernel, const LaunchShape& shape, A... args) {
  void* pointers[sizeof...(A) + 1] = {static_cast<void*>(&args)...};
  const std::size_t sizes[sizeof...(A) + 1] = {sizeof(A)...};
  ctx.launch(kernel, shape, {pointers, sizes, sizeof...(A)});
}

namespace detail {
// Whether a 64-bit integer loses bits as a parameter of this type.
template <class Parameter, class Argument>
constexpr bool narrows(const Argument& argument) {
  if constexpr (std::is_integral_v<Parameter> && std::is_integral_v<Argument> &&
                sizeof(Argument) == 8 && sizeof(Parameter) < 8 &&
                !std::is_same_v<Parameter, bool>) {
    if constexpr (std::is_signed_v<Parameter> && std::is_unsigned_v<Argument>)
      return argument > static_cast<Argument>(std::numeric_limits<Parameter>::max());
    else
      return static_cast<Argument>(static_cast<Parameter>(argument)) != argument;
  }
  return false;
}

template <class Parameter, class Argument>
void tell_if_narrowed(int position, const Argument& argument, std::string& told) {
  if constexpr (std::is_integral_v<Parameter> && std::is_integral_v<Argument>) {
    if (told.empty() && narrows<Parameter>(argument))
      told = "argument " + std::to_string(position) + " is " + std::to_string(argument) +
             ", which does not fit its parameter of " + std::to_string(sizeof(Parameter)) +
             " bytes";
  }
}

// Describes the first argument that does not fit its parameter, counted from 1.
template <class... P, class... A>
std::string narrowed(const A&... args) {
  std::string told;
  int position = 0;
  (tell_if_narrowed<P>(++position, args, told), ...);
  return told;
}
}  // namespace detail

// Launches a `__global__` function; arguments convert to the parameter types as in a plain call. A
// 64-bit integer that does not fit its parameter fails the call ("argument-overflow"); use a cast
// if the truncation is intended.
template <class... P, class... A>
void launch(Context& ctx, const char* name, void (*kernel)(P...), const LaunchShape& shape,
            A&&... args) {
  static_assert(sizeof...(P) == sizeof...(A), "wrong number of kernel arguments");
  if ((detail::narrows<std::decay_t<P>>(args) || ...))
    return ctx.fail("argument-overflow", std::string("kernel '") + name +
                                             "': " + detail::narrowed<std::decay_t<P>...>(args...));
  launch_exact<std::decay_t<P>...>(ctx, kernel_ref(name, kernel), shape,
                                   static_cast<std::decay_t<P>>(std::forward<A>(args))...);
}

}  // namespace redzone

#ifdef __CUDACC__
namespace redzone::detail {
// The first call of the runtime loads all kernels (workers set CUDA_MODULE_LOADING=EAGER).
inline void preload() {
  cudaFree(nullptr);
}
}  // namespace redzone::detail
#define REDZONE_PLUGIN_DEVICE ::redzone::DeviceKind::cuda
#define REDZONE_PLUGIN_PRELOAD &::redzone::detail::preload
#else
#define REDZONE_PLUGIN_DEVICE ::redzone::DeviceKind::host
#define REDZONE_PLUGIN_PRELOAD nullptr
#endif

// Defines the entry point. Use it once in a shared object: REDZONE_PLUGIN(registrar) { ... }
// NOLINTBEGIN(bugprone-macro-parentheses): `registrar` is the name of a parameter
#define REDZONE_PLUGIN(registrar)                                                                  \
  static void redzone_register_targets(::redzone::Registrar& registrar);                           \
  extern "C" __attribute__((visibility("default"))) const ::redzone::PluginInfo*                   \
  redzone_plugin() {                                                                               \
    static const ::redzone::PluginInfo info = {REDZONE_ABI_VERSION, REDZONE_PLUGIN_DEVICE,         \
                                               &redzone_register_targets, REDZONE_PLUGIN_PRELOAD}; \
    return &info;                                                                                  \
  }                                                                                                \
  static void redzone_register_targets(::redzone::Registrar& registrar)
// NOLINTEND(bugprone-macro-parentheses)
