#include "device/compile_ahead.h"

#include <memory>
#include <string>
#include <unordered_set>

#include "device/cuda/compiler.h"
#include "device/cuda/cubin_cache.h"
#include "device/cuda/signs_of_life.h"
#include "device/cuda/variant_key.h"

namespace redzone::device {
namespace {

using namespace cuda;

class AheadCompiler {
 public:
  AheadCompiler(NvrtcApi nvrtc, int compute_capability)
      : nvrtc_(std::move(nvrtc)), arch_(arch_name(compute_capability)) {}

  void operator()(const VariantRequest& request, BlackBox* box) {
    if (!request.image.empty()) return;  // was compiled before
    const std::string key = variant_key(request);
    if (!seen_.insert(key).second) return;
    const std::string file = compiled_key(key, nvrtc_.version_text, arch_, kernel_header());
    if (cache_.load(file)) return;
    const SignsOfLife signs(box);
    if (const auto cubin = compile_variant(nvrtc_, request, arch_)) cache_.save(file, *cubin);
  }

 private:
  NvrtcApi nvrtc_;
  std::string arch_;
  CubinCache cache_{CubinCache::default_folder()};
  std::unordered_set<std::string> seen_;
};

}  // namespace

VariantHook compile_ahead(int compute_capability) {
  auto nvrtc = load_nvrtc_api();
  if (!nvrtc) return [](const VariantRequest&, BlackBox*) {};
  auto compiler = std::make_shared<AheadCompiler>(std::move(*nvrtc), compute_capability);
  return [compiler](const VariantRequest& request, BlackBox* box) { (*compiler)(request, box); };
}

}  // namespace redzone::device
