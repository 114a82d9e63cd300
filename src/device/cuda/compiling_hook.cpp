#include <memory>
#include <string>
#include <unordered_set>

#include "device/cuda/compiler.h"
#include "device/cuda/cubin_cache.h"
#include "device/cuda/signs_of_life.h"
#include "device/cuda/variant_key.h"
#include "device/variant_hook.h"

namespace redzone::device {
namespace {

using namespace cuda;

class CompilingHook {
 public:
  CompilingHook(NvrtcApi nvrtc, int compute_capability)
      : nvrtc_(std::move(nvrtc)), arch_(arch_name(compute_capability)) {}

  void operator()(const VariantRequest& request, BlackBox* box) {
    if (!request.image.empty() || !keeps_) return;  // was compiled before, or would be again
    const std::string key = variant_key(request);
    const std::string file = compiled_key(key, nvrtc_.version_text, arch_, kernel_header());
    if (failed_.contains(key) || cache_.has(file)) return;
    const SignsOfLife signs(box);
    if (const auto cubin = compile_variant(nvrtc_, request, arch_))
      keeps_ = cache_.save(file, *cubin);
    else
      failed_.insert(key);
  }

 private:
  NvrtcApi nvrtc_;
  std::string arch_;
  CubinCache cache_{CubinCache::default_folder()};
  bool keeps_ = true;                       // what is saved can be loaded
  std::unordered_set<std::string> failed_;  // to compile
};

}  // namespace

VariantHook compiling_hook(int compute_capability) {
  auto nvrtc = load_nvrtc_api();
  if (!nvrtc || CubinCache::default_folder().empty())
    return [](const VariantRequest&, BlackBox*) {};
  auto hook = std::make_shared<CompilingHook>(std::move(*nvrtc), compute_capability);
  return [hook](const VariantRequest& request, BlackBox* box) { (*hook)(request, box); };
}

}  // namespace redzone::device
