#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>
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

// Number of requests to skip after a failed save (e.g. on a full disk), because the device would
// have to compile the variants again.
constexpr int kLeftAlone = 100;

class CompilingHook {
 public:
  CompilingHook(NvrtcApi nvrtc, int compute_capability)
      : nvrtc_(std::move(nvrtc)), arch_(arch_name(compute_capability)) {}

  void operator()(const VariantRequest& request, BlackBox* box) {
    if (!request.image.empty()) return;  // precompiled
    const std::string key = variant_key(request);
    const std::string file = compiled_key(key, nvrtc_.version_text, arch_, kernel_header());
    if (failed_.contains(key) || cache_.has(file)) return;
    if (left_alone_ > 0) {
      --left_alone_;
      return;
    }
    const SignsOfLife signs(box);
    const auto cubin = compile_variant(nvrtc_, request, arch_);
    if (!cubin)
      failed_.insert(key);
    else if (!cache_.save(file, *cubin))
      left_alone_ = kLeftAlone;
  }

 private:
  NvrtcApi nvrtc_;
  std::string arch_;
  CubinCache cache_{CubinCache::default_folder()};
  int left_alone_ = 0;                      // number of further requests to skip
  std::unordered_set<std::string> failed_;  // variants that do not compile
};

}  // namespace

std::string no_compiling_ahead() {
  const auto folder = CubinCache::default_folder();
  if (folder.empty())
    return "there is no cache: none of REDZONE_CACHE_DIR, XDG_CACHE_HOME, HOME is set";
  std::error_code failed;
  std::filesystem::create_directories(folder, failed);
  if (failed || ::access(folder.c_str(), W_OK) != 0)
    return fmt::format("the cache {} cannot be written", folder.string());
  return "";
}

VariantHook compiling_hook(int compute_capability) {
  auto nvrtc = load_nvrtc_api();
  if (!nvrtc || CubinCache::default_folder().empty())
    return [](const VariantRequest&, BlackBox*) {};
  auto hook = std::make_shared<CompilingHook>(std::move(*nvrtc), compute_capability);
  return [hook](const VariantRequest& request, BlackBox* box) { (*hook)(request, box); };
}

}  // namespace redzone::device
