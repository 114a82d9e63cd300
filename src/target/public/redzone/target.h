// The public API of a target: what a plugin author reads.
//
// A target is one kernel or a small pipeline. It says what it accepts (`TargetSpec`, in
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
// include <redzone/kernel.h>, which gives g++ the CUDA keywords). Each gives one shared object.
//
// Threads: all members of a target are called from one thread. Ownership: every pointer that comes
// out of a Context belongs to Redzone and is valid until the trial ends (scratch: until the work of
// its call that was enqueued on its own stream when run() returns has run; allocate(): until it is
// freed).
#pragma once

#include <redzone/spec.h>
#include <redzone/tensor_map.h>

#include <cstddef>
#include <cstdint>
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

// Changes whenever a type in this header or one that it includes changes.
#define REDZONE_ABI_VERSION 6

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

// 64-bit on purpose: an extent that overflowed or is negative must reach Redzone unclipped.
struct Extent {
  std::int64_t x = 1, y = 1, z = 1;
};

struct LaunchShape {
  Extent grid = {};
  Extent block = {};
  std::size_t shared_bytes = 0;  // dynamic shared memory of one block
  // Of the call: 0 its own, 1 .. TargetSpec::side_streams the target's side streams.
  int stream = 0;
  // CTAs of a thread block cluster; the grid, which counts CTAs, is a multiple of it.
  Extent cluster = {};
  bool cooperative = false;  // all CTAs of the grid run at the same time
  // Programmatic dependent launch: may start before the kernel in front of it on the stream has
  // ended. On CUDA only, as are the two above.
  bool dependent = false;
};

// A graph that a target captured; 0: none.
struct GraphRef {
  int id = 0;
  explicit operator bool() const { return id != 0; }
};

// A kernel that can be launched. On CUDA `function` is a CUfunction. On the host device it is the
// function itself, `thunk(function, args)` runs one thread of it, and `host_thread` (a
// host::Thread) is where the kernel reads which thread it is.
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

// A kernel compiled on first use. On CUDA `source` is compiled by NVRTC for `expression`, a
// template instance such as "scan<float, 32>"; on the host device `host`, the same instance
// compiled ahead of time, is used. Redzone caches by (source, expression, options) and never
// confuses two: a target that models a faulty cache keeps its own on top.
struct VariantRequest {
  const char* name = "";
  std::string_view source = {};
  std::string expression = {};
  std::vector<std::string> options = {};  // e.g. "-DN=4"
  KernelRef host = {};
  // A cubin, compiled before: then `expression` is the name of the kernel in it, and `source` and
  // `options` are not looked at. Its bytes are read at the first request only.
  std::string_view image = {};
};

// What the metadata of a compiled kernel demands of the scratch that it is launched with, as for
// Triton's `global_scratch_size`, `global_scratch_align` and `num_ctas`: the kernel uses
// `bytes_per_cta` bytes for each CTA, so its launcher owes
//     grid.x * grid.y * grid.z * num_ctas * bytes_per_cta
// bytes (Triton 3.6, CudaLauncher in its NVIDIA backend's driver.py).
struct ScratchNeed {
  std::size_t bytes_per_cta = 0;
  Extent grid = {};       // programs: clusters where num_ctas > 1, blocks otherwise
  int num_ctas = 1;       // CTAs of a cluster
  std::size_t align = 1;  // of the first byte
};

// What one call may use. All of its memory is guarded; see README, "Words".
class Context {
 public:
  virtual ~Context() = default;

  virtual const Dims& dims() const = 0;
  virtual const Config& config() const = 0;
  // Throws SpecError for a name that the spec does not declare.
  virtual TensorArg tensor(std::string_view name) const = 0;
  virtual DeviceKind device() const = 0;
  // Multiprocessors of the device, for persistent grids.
  virtual int multiprocessors() const = 0;

  // cudaStream_t on CUDA, an opaque handle on the host device. Enqueue everything here; do not
  // synchronize.
  virtual void* stream() const = 0;
  // The same of stream `index` of the call: 0 its own, 1 .. TargetSpec::side_streams the target's
  // side streams. Another index ends the call with an error and gives nullptr, as it does in the
  // members below.
  virtual void* stream(int index) const = 0;
  // What follows on `stream` waits for all that is enqueued on `on` so far (an event is recorded
  // and waited for).
  virtual void wait(int stream, int on) = 0;

  // Uninitialized memory for this call. Returns nullptr (and ends the call) when there is none.
  virtual void* scratch(std::string_view name, std::size_t bytes, std::size_t align = 256) = 0;
  // The same, with what the kernel needs beside what its launcher asks for, so that the two can be
  // judged without running anything. The launcher gets what it asks for, whatever the need is:
  // `bytes` of 0 are a null pointer, which ends nothing.
  virtual void* scratch(std::string_view name, std::size_t bytes, std::size_t align,
                        const ScratchNeed& need) = 0;
  // Memory that lives for the whole trial: zeroed on first use, then left as the last call left it.
  // The size is that of the first request; a larger one later ends the call with an error.
  virtual void* workspace(std::string_view name, std::size_t bytes, std::size_t align = 256) = 0;

  // Memory from the allocator of the plan's mode (Redzone gives it by name in what it reports). For
  // what follows on stream `stream` of the call, in whose order it may be memory that was freed
  // there before. Uninitialized; 256-byte aligned. Lives until free() or the end of the trial.
  virtual void* allocate(std::string_view name, std::size_t bytes, int stream = 0) = 0;
  // The memory may be used again by what follows on `stream`; nothing orders other streams. A
  // pointer that allocate() did not give, or that is freed already, ends the call with an error.
  virtual void free(void* p, int stream = 0) = 0;
  // Page-locked memory of the host by name, which kernels can use, too. Zeroed at the first
  // request, which also gives the size that later ones must not exceed; lives for the whole trial.
  // What the CPU writes there is seen at once by whatever runs then.
  virtual void* pinned_memory(std::string_view name, std::size_t bytes) = 0;
  // Its name in older sources.
  void* host_memory(std::string_view name, std::size_t bytes) { return pinned_memory(name, bytes); }
  // Copies in order of `stream`, between device memory and pinned_memory() in any direction; other
  // memory of the host ends the call with an error. The source is read when the copy runs.
  virtual void copy(void* to, const void* from, std::size_t bytes, int stream = 0) = 0;

  // Encodes a TMA descriptor for kernels that include <redzone/bulk_copy.h>: on CUDA what
  // cuTensorMapEncodeTiled answers, on the host device what Redzone's rules say of it
  // (`redzone tma explain` tells them). `name` is that of the tensor, for what is reported. An
  // encode that is refused ends nothing and leaves `map` as it is; it is noted with the rule that
  // it breaks, and shown with whatever the call ends in.
  virtual EncodeStatus encode_tiled(std::string_view name, const tma::Descriptor& descriptor,
                                    TensorMap& map) = 0;

  virtual KernelRef variant(const VariantRequest& request) = 0;
  // Enqueues. A launch that the device refuses is recorded; later launches of the call are dropped.
  virtual void launch(const KernelRef& kernel, const LaunchShape& shape,
                      const LaunchArgs& args) = 0;

  // Until end_capture(), what the call enqueues on its own stream, and on side streams that wait
  // for it and are joined again (waited for) before the end, is recorded and does not run.
  // scratch() and workspace() stay outside of the graph: their contents are there once
  // end_capture() returns, in stream order. Not inside another capture: a call that Redzone
  // captures itself ends as unsupported here (see TargetSpec::capturable). What cannot be captured
  // ends the call so too.
  virtual void begin_capture() = 0;
  // Ends the capture. The graph lives until the end of the trial, so a later call may replay it.
  virtual GraphRef end_capture() = 0;
  // Enqueues a graph; two launches of one graph are in order whatever their streams.
  virtual void replay(const GraphRef& graph, int stream = 0) = 0;

  // The target's own wrapper refused the call: the plan is not applicable, with this reason.
  virtual void unsupported(std::string reason) = 0;
  // The target's own wrapper failed (a library returned an error). This is a finding.
  virtual void fail(std::string code, std::string message) = 0;
  // True once the call has failed or is unsupported: return from run().
  virtual bool ended() const = 0;

  std::int64_t dim(std::string_view name) const { return get(dims(), name); }
  std::int64_t knob(std::string_view name) const { return get_int(config(), name); }
  const std::string& knob_str(std::string_view name) const { return get_str(config(), name); }
};

// One call for the reference: inputs and outputs as doubles, contiguous, in logical (row-major)
// order, whatever the layout on the device was. Inputs hold exactly the values that the kernel saw.
class ReferenceCall {
 public:
  virtual ~ReferenceCall() = default;
  virtual const Dims& dims() const = 0;
  virtual const Config& config() const = 0;
  virtual std::span<const double> input(std::string_view name) const = 0;  // in and inout
  virtual std::span<double> output(std::string_view name) = 0;  // out (zeros) and inout (a copy)

  std::int64_t dim(std::string_view name) const { return get(dims(), name); }
};

// A fresh instance is made for every trial: its members are the state that one call leaves for the
// next. C++ statics live longer, as they would in production.
class Target {
 public:
  virtual ~Target() = default;
  // Enqueues one call on ctx.stream(). May throw std::exception: recorded as a failure of the call.
  virtual void run(Context& ctx) = 0;
  // Expected outputs in float64. Only called when the spec says `has_reference`. What it throws is
  // reported, and is no failure of the call.
  virtual void reference(ReferenceCall&) const {
    throw SpecError("the spec says has_reference, and reference() is not implemented");
  }
};

namespace detail {

// A T, or a base of it, implements reference(); also where that cannot be seen from here.
template <class T>
constexpr bool implements_reference() {
  if constexpr (requires { &T::reference; })
    return !std::is_same_v<decltype(&T::reference), void (Target::*)(ReferenceCall&) const>;
  else
    return true;
}

}  // namespace detail

using TargetFactory = std::function<std::unique_ptr<Target>()>;

class Registrar {
 public:
  virtual ~Registrar() = default;
  virtual void add(TargetSpec spec, TargetFactory make) = 0;
  template <class T>
  void add() {
    TargetSpec spec = T::spec();
    if (spec.has_reference && !detail::implements_reference<T>())
      throw SpecError("target '" + spec.name +
                      "' says has_reference, and does not implement reference()");
    add(std::move(spec), [] { return std::make_unique<T>(); });
  }
};

// Returned by the entry point of a plugin; lives as long as the plugin is loaded.
struct PluginInfo {
  std::uint32_t abi_version;
  DeviceKind device;
  void (*register_targets)(Registrar&);
  // Called once in a worker, with its device open and nothing in flight; null: nothing to do. On
  // CUDA the kernels of the plugin are loaded here, because loading one later waits for the device,
  // which a gated trial holds.
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

// Launches a `__global__` function; arguments convert to the parameter types as in a plain call.
template <class... P, class... A>
void launch(Context& ctx, const char* name, void (*kernel)(P...), const LaunchShape& shape,
            A&&... args) {
  static_assert(sizeof...(P) == sizeof...(A), "wrong number of kernel arguments");
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

// Defines the entry point. Use once in a shared object: REDZONE_PLUGIN(registrar) { ... }
#define REDZONE_PLUGIN(registrar)                                                                  \
  static void redzone_register_targets(::redzone::Registrar& registrar);                           \
  extern "C" __attribute__((visibility("default"))) const ::redzone::PluginInfo*                   \
  redzone_plugin() {                                                                               \
    static const ::redzone::PluginInfo info = {REDZONE_ABI_VERSION, REDZONE_PLUGIN_DEVICE,         \
                                               &redzone_register_targets, REDZONE_PLUGIN_PRELOAD}; \
    return &info;                                                                                  \
  }                                                                                                \
  static void redzone_register_targets(::redzone::Registrar& registrar)
