#include "device/cuda/variants.h"

#include <fmt/format.h>

#include "device/cuda/cuda_error.h"
#include "device/cuda/signs_of_life.h"

namespace redzone::device::cuda {

Variants::~Variants() {
  for (CUmodule module : modules_) api_.module_unload(module);
}

Status<KernelRef> Variants::find(const VariantRequest& request, BlackBox* box) {
  const VariantId id = variant_id(request);
  auto it = functions_.find(id);
  if (it == functions_.end()) {
    RZ_TRY_ASSIGN(auto function, build(request, box));
    it = functions_.emplace(id, function).first;
  }
  KernelRef kernel;
  kernel.name = request.name;
  kernel.function = it->second;
  return kernel;
}

Status<CUfunction> Variants::build(const VariantRequest& request, BlackBox* box) {
  const GatePause pause(gate_);  // loading a module may wait for the device
  if (!request.image.empty())
    return load(request.image.data(), request.expression.c_str(), request);
  if (!nvrtc_) nvrtc_ = load_nvrtc_api();
  if (!*nvrtc_)
    return tl::unexpected(Failure{Failure::Kind::unsupported, "no-nvrtc", nvrtc_->error()});
  const NvrtcApi& nvrtc = **nvrtc_;
  const std::string file =
      compiled_key(variant_key(request), nvrtc.version_text, arch_, kernel_header());
  if (auto cached = cache_.load(file)) {
    auto function = load(cached->image.data(), cached->lowered_name.c_str(), request);
    if (function || function.error().kind == Failure::Kind::fault) return function;
    // if the image cannot be loaded, the variant is compiled again
  }
  RZ_TRY_ASSIGN(auto cubin, [&] {
    const SignsOfLife signs(box);
    return compile_variant(nvrtc, request, arch_);
  }());
  auto function = load(cubin.image.data(), cubin.lowered_name.c_str(), request);
  if (function) cache_.save(file, cubin);
  return function;
}

Status<CUfunction> Variants::load(const void* image, const char* name,
                                  const VariantRequest& request) {
  const auto what = [&](std::string_view step) {
    return fmt::format("{} of kernel '{}' ({})", step, request.name != nullptr ? request.name : "",
                       request.expression);
  };
  CUmodule module = nullptr;
  if (auto r = api_.module_load(&module, image); r != CUDA_SUCCESS)
    return tl::unexpected(failure_of(api_, r, what("loading the module")));
  modules_.push_back(module);
  CUfunction function = nullptr;
  if (auto r = api_.module_function(&function, module, name); r != CUDA_SUCCESS)
    return tl::unexpected(failure_of(api_, r, what("finding the function")));
  return function;
}

}  // namespace redzone::device::cuda
