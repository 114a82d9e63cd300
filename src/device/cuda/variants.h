// Kernels compiled on first use, by (source, expression, options), which are looked up in memory,
// then on disk, then compiled by NVRTC; and kernels of precompiled modules.
#pragma once

#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "device/cuda/cubin_cache.h"
#include "device/cuda/driver_api.h"
#include "device/cuda/gate.h"
#include "device/cuda/variant_key.h"
#include "device/device.h"

namespace redzone::device::cuda {

class Variants {
 public:
  Variants(const DriverApi& api, Gate& gate, int compute_capability, CubinCache cache)
      : api_(api), gate_(gate), arch_(arch_name(compute_capability)), cache_(std::move(cache)) {}
  ~Variants();  // unloads; requires that nothing is in flight
  Variants(const Variants&) = delete;
  Variants& operator=(const Variants&) = delete;

  // The result has the request's name. unsupported: no NVRTC. harness: does not compile or load.
  // `box` (may be null) records progress during compilation.
  Status<KernelRef> find(const VariantRequest& request, BlackBox* box);

 private:
  Status<CUfunction> build(const VariantRequest& request, BlackBox* box);
  Status<CUfunction> load(const void* image, const char* name, const VariantRequest& request);

  const DriverApi& api_;
  Gate& gate_;
  std::string arch_;
  CubinCache cache_;
  std::optional<tl::expected<NvrtcApi, std::string>> nvrtc_;  // loaded at the first use
  std::unordered_map<VariantId, CUfunction, VariantId::Hash> functions_;
  std::vector<CUmodule> modules_;
};

}  // namespace redzone::device::cuda
