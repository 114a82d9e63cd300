// The CUDA machine of an exported program. It uses the driver API on the primary context, so that a
// target that uses the runtime API shares the context. Memory is mapped through the virtual memory
// management API between unmapped guard pages. Programs must be linked with -lcuda.
#pragma once

#include <cuda.h>
#include <redzone/target.h>

#include <chrono>
#include <cstdlib>
#include <functional>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "standalone/run.h"

namespace redzone::standalone {

// Checks the result of a CUDA call; the program ends with exit code 3 if it cannot start.
inline void check(CUresult result, const char* what) {
  if (result == CUDA_SUCCESS) return;
  const char* name = nullptr;
  const char* text = nullptr;
  cuGetErrorName(result, &name);
  cuGetErrorString(result, &text);
  throw Failed{std::string(what) + ": " + (name != nullptr ? name : "?") + ": " +
               (text != nullptr ? text : "?")};
}

struct Compiled {
  std::string name;   // name of the kernel in the image
  std::string image;  // a cubin
};

// Compiles kernels at run time (nvrtc.h), for targets that need it.
struct Compiler {
  Compiled (*compile)(const VariantRequest& request, int capability,
                      const char* kernel_header) = nullptr;
  const char* kernel_header = nullptr;  // the text of <redzone/kernel.h>
};

class CudaMachine final : public Machine {
 public:
  CudaMachine(int streams, std::chrono::seconds deadline, const Compiler& compiler)
      : deadline_(deadline), compiler_(compiler) {
    check(cuInit(0), "cuInit");
    check(cuDeviceGet(&device_, 0), "cuDeviceGet");
    check(cuDevicePrimaryCtxRetain(&context_, device_), "cuDevicePrimaryCtxRetain");
    check(cuCtxSetCurrent(context_), "cuCtxSetCurrent");
    check(cuMemHostAlloc(reinterpret_cast<void**>(&gate_), sizeof *gate_,
                         CU_MEMHOSTALLOC_DEVICEMAP | CU_MEMHOSTALLOC_PORTABLE),
          "cuMemHostAlloc");
    *gate_ = 0;
    check(cuMemHostGetDevicePointer(&gate_address_, gate_, 0), "cuMemHostGetDevicePointer");
    properties_.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    properties_.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    properties_.location.id = device_;
    check(cuMemGetAllocationGranularity(&granularity_, &properties_,
                                        CU_MEM_ALLOC_GRANULARITY_MINIMUM),
          "cuMemGetAllocationGranularity");
    streams_.resize(static_cast<std::size_t>(streams));
    for (CUstream& stream : streams_)
      check(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING), "cuStreamCreate");
  }

  Region map(std::size_t bytes) override {
    const std::size_t size = (bytes + granularity_ - 1) / granularity_ * granularity_;
    CUdeviceptr reserved = 0;
    check(cuMemAddressReserve(&reserved, size + 2 * granularity_, 0, 0, 0), "cuMemAddressReserve");
    const CUdeviceptr base = reserved + granularity_;
    CUmemGenericAllocationHandle memory = 0;
    check(cuMemCreate(&memory, size, &properties_, 0), "cuMemCreate");
    check(cuMemMap(base, size, 0, memory, 0), "cuMemMap");
    CUmemAccessDesc access = {};
    access.location = properties_.location;
    access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
    check(cuMemSetAccess(base, size, &access, 1), "cuMemSetAccess");
    return {reinterpret_cast<std::byte*>(base), size};
  }

  // A copy from pageable memory is complete when the call returns. It does not wait for blocked
  // streams, nor for streams that do not synchronize with the default stream.
  void write(void* to, const void* from, std::size_t bytes) override {
    check(cuMemcpyHtoD(reinterpret_cast<CUdeviceptr>(to), from, bytes), "cuMemcpyHtoD");
    check(cuStreamSynchronize(nullptr), "cuStreamSynchronize");
  }
  void read(void* to, const void* from, std::size_t bytes) override {
    check(cuMemcpyDtoH(to, reinterpret_cast<CUdeviceptr>(from), bytes), "cuMemcpyDtoH");
  }

  void* pinned_memory(std::size_t bytes) override {
    void* memory = nullptr;
    check(cuMemHostAlloc(&memory, bytes == 0 ? 1 : bytes,
                         CU_MEMHOSTALLOC_DEVICEMAP | CU_MEMHOSTALLOC_PORTABLE),
          "cuMemHostAlloc");
    std::memset(memory, 0, bytes);
    return memory;
  }

  void* stream(int index) override { return at(index); }
  void wait(int stream, int on) override {
    CUevent event = nullptr;
    check(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING), "cuEventCreate");
    check(cuEventRecord(event, at(on)), "cuEventRecord");
    check(cuStreamWaitEvent(at(stream), event, 0), "cuStreamWaitEvent");
    check(cuEventDestroy(event), "cuEventDestroy");
  }
  void copy(void* to, const void* from, std::size_t bytes, int stream) override {
    check(cuMemcpyAsync(reinterpret_cast<CUdeviceptr>(to), reinterpret_cast<CUdeviceptr>(from),
                        bytes, at(stream)),
          "cuMemcpyAsync");
    enqueued();
  }
  void memset(void* to, std::uint8_t value, std::size_t bytes, int stream) override {
    if (bytes == 0) return;
    check(cuMemsetD8Async(reinterpret_cast<CUdeviceptr>(to), value, bytes, at(stream)),
          "cuMemsetD8Async");
    enqueued();
  }

  void launch(const KernelRef& kernel, const LaunchShape& shape, const LaunchArgs& args,
              int stream) override {
    const auto function = static_cast<CUfunction>(kernel.function);
    const auto extent = [](std::int64_t n) { return static_cast<unsigned>(n); };
    CUlaunchAttribute attributes[3] = {};
    CUlaunchConfig config = {};
    config.gridDimX = extent(shape.grid.x);
    config.gridDimY = extent(shape.grid.y);
    config.gridDimZ = extent(shape.grid.z);
    config.blockDimX = extent(shape.block.x);
    config.blockDimY = extent(shape.block.y);
    config.blockDimZ = extent(shape.block.z);
    config.sharedMemBytes = static_cast<unsigned>(shape.shared_bytes);
    config.hStream = at(stream);
    config.attrs = attributes;
    if (shape.dependent) {
      auto& attribute = attributes[config.numAttrs++];
      attribute.id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION;
      attribute.value.programmaticStreamSerializationAllowed = 1;
    }
    if (shape.cooperative) {
      auto& attribute = attributes[config.numAttrs++];
      attribute.id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE;
      attribute.value.cooperative = 1;
    }
    if (shape.cluster.x * shape.cluster.y * shape.cluster.z > 1) {
      auto& attribute = attributes[config.numAttrs++];
      attribute.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
      attribute.value.clusterDim = {extent(shape.cluster.x), extent(shape.cluster.y),
                                    extent(shape.cluster.z)};
    }
    // Dynamic shared memory above 48 KiB must be requested explicitly.
    if (shape.shared_bytes > 48 * 1024)
      check(cuFuncSetAttribute(function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                               static_cast<int>(shape.shared_bytes)),
            kernel.name);
    check(cuLaunchKernelEx(&config, function, const_cast<void**>(args.pointers), nullptr),
          kernel.name);
    enqueued();
  }

  KernelRef variant(const VariantRequest& request) override {
    std::string key(request.image.empty() ? request.source : request.image);
    key += '\0' + request.expression;
    for (const std::string& option : request.options) key += '\0' + option;
    if (const auto known = variants_.find(key); known != variants_.end())
      return {request.name, known->second, nullptr, nullptr};
    // Loading waits for the device, so open the gate meanwhile.
    const bool held = held_;
    if (held) release();
    const CUfunction function = load(request);
    if (held) hold();
    variants_.emplace(std::move(key), function);
    return {request.name, function, nullptr, nullptr};
  }

  EncodeStatus encode(const tma::Descriptor& d, TensorMap& map) override {
    CUtensorMap encoded;
    const auto code = cuTensorMapEncodeTiled(
        &encoded, static_cast<CUtensorMapDataType>(d.type), d.rank,
        reinterpret_cast<void*>(d.address), reinterpret_cast<const cuuint64_t*>(d.dims.data()),
        reinterpret_cast<const cuuint64_t*>(d.strides.data()), d.box.data(),
        d.element_strides.data(), static_cast<CUtensorMapInterleave>(d.interleave),
        static_cast<CUtensorMapSwizzle>(d.swizzle),
        static_cast<CUtensorMapL2promotion>(d.promotion),
        static_cast<CUtensorMapFloatOOBfill>(d.fill));
    if (code != CUDA_SUCCESS)
      return {static_cast<int>(code), "cuTensorMapEncodeTiled refuses the descriptor"};
    std::memcpy(map.bytes, &encoded, sizeof encoded);
    return {};
  }

  void hold() override {
    __atomic_store_n(gate_, ++gate_count_ - 1, __ATOMIC_SEQ_CST);
    for (const CUstream stream : streams_)
      check(cuStreamWaitValue32(stream, gate_address_, gate_count_, CU_STREAM_WAIT_VALUE_GEQ),
            "cuStreamWaitValue32");
    held_ = true;
    held_operations_ = 0;
  }
  void release() override {
    __atomic_store_n(gate_, gate_count_, __ATOMIC_SEQ_CST);
    held_ = false;
  }

  void synchronize() override {
    release();
    const auto until = std::chrono::steady_clock::now() + deadline_;
    for (const CUstream stream : streams_)
      for (;;) {
        const CUresult result = cuStreamQuery(stream);
        if (result == CUDA_SUCCESS) break;
        if (result != CUDA_ERROR_NOT_READY) check(result, "a kernel");
        if (std::chrono::steady_clock::now() > until)
          throw Failed{"hang: the device is busy for " + std::to_string(deadline_.count()) + " s"};
        std::this_thread::sleep_for(std::chrono::microseconds(50));
      }
  }

  int multiprocessors() override { return attribute(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT); }
  DeviceKind kind() override { return DeviceKind::cuda; }

 private:
  // A blocked queue accepts about 1,000 operations before the next one waits.
  void enqueued() {
    if (!held_ || ++held_operations_ < 800) return;
    release();
    hold();
  }
  CUstream at(int index) const { return streams_.at(static_cast<std::size_t>(index)); }

  int attribute(CUdevice_attribute what) const {
    int value = 0;
    check(cuDeviceGetAttribute(&value, what, device_), "cuDeviceGetAttribute");
    return value;
  }

  CUfunction load(const VariantRequest& request) const {
    Compiled code{request.expression, std::string(request.image)};
    if (request.image.empty()) {
      if (compiler_.compile == nullptr) throw Failed{"no compiler for kernels at run time"};
      const int capability = 10 * attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR) +
                             attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
      code = compiler_.compile(request, capability, compiler_.kernel_header);
    }
    CUmodule module = nullptr;
    CUfunction function = nullptr;
    check(cuModuleLoadData(&module, code.image.data()), request.name);
    check(cuModuleGetFunction(&function, module, code.name.c_str()), request.name);
    return function;
  }

  std::chrono::seconds deadline_;
  Compiler compiler_;
  std::map<std::string, CUfunction> variants_;
  CUdevice device_ = 0;
  CUcontext context_ = nullptr;
  CUmemAllocationProp properties_ = {};
  std::size_t granularity_ = 0;
  std::vector<CUstream> streams_;
  std::uint32_t* gate_ =
      nullptr;  // pinned memory; the streams continue when it reaches gate_count_
  CUdeviceptr gate_address_ = 0;
  std::uint32_t gate_count_ = 0;
  bool held_ = false;
  int held_operations_ = 0;
};

// Finds the target by name through the plugin's entry point.
class OneTarget final : public Registrar {
 public:
  explicit OneTarget(std::string name) : name_(std::move(name)) {}
  void add(TargetSpec spec, TargetFactory make) override {
    if (spec.name == name_) make_ = std::move(make);
  }
  void warm_up(std::function<void()> function) override {
    warm_ups_.push_back(std::move(function));
  }
  const TargetFactory& make() const { return make_; }
  void warm_up() const {
    for (const auto& function : warm_ups_) function();
  }

 private:
  std::string name_;
  TargetFactory make_;
  std::vector<std::function<void()>> warm_ups_;
};

// Exit code: 1 the failure shows, 0 it does not, 3 the program cannot run here. Never destroys the
// CUDA context, because that may hang after a fault.
[[noreturn]] inline void run_on_cuda(const Program& program, const PluginInfo* plugin,
                                     const Compiler& compiler = {}) {
  setenv("CUDA_MODULE_LOADING", "EAGER", 1);  // lazy loading would wait for blocked launches
  int code = 3;
  try {
    CudaMachine machine(program.streams + program.side_streams, std::chrono::seconds(10), compiler);
    OneTarget target(program.target);
    plugin->register_targets(target);
    if (!target.make()) throw Failed{std::string("no target '") + program.target + "' in here"};
    plugin->preload();
    target.warm_up();
    machine.synchronize();
    code = run(machine, program, target.make());
  } catch (const Failed& failed) {
    std::printf("cannot run: %s\n", failed.why.c_str());
  } catch (const std::exception& thrown) {
    std::printf("cannot run: %s\n", thrown.what());
  }
  std::fflush(stdout);
  std::_Exit(code);
}

}  // namespace redzone::standalone
