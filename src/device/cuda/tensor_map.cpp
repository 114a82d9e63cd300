#include "device/tensor_map.h"

#include <fmt/format.h>

#include "device/cuda/context.h"
#include "device/cuda/cuda_error.h"
#include "device/cuda/device_facts.h"
#include "device/cuda/encode.h"

namespace redzone::device {
namespace {

class CudaEncoder final : public TensorMapEncoder {
 public:
  explicit CudaEncoder(const cuda::DriverApi& api) : api_(api) {}

  Status<void> open() {
    if (auto r = api_.init(0); r != CUDA_SUCCESS) return cuda::status_of(api_, r, "cuInit");
    CUdevice device = 0;
    if (auto r = api_.device_get(&device, 0); r != CUDA_SUCCESS)
      return cuda::status_of(api_, r, "cuDeviceGet");
    driver_ = cuda::driver_version(api_);
    RZ_TRY_ASSIGN(auto name, cuda::device_name(api_, device));
    name_ = std::move(name);
    RZ_TRY_ASSIGN(capability_, cuda::compute_capability(api_, device));
    if (capability_ < 90)
      return missing(fmt::format("{} has compute capability {}.{}: TMA needs 9.0", name_,
                                 capability_ / 10, capability_ % 10));
    if (api_.tensor_map_encode_tiled == nullptr || api_.tensor_map_encode_im2col == nullptr)
      return missing("the CUDA driver is too old: it has no cuTensorMapEncodeTiled");
    RZ_TRY_ASSIGN(auto context, cuda::PrimaryContext::retain(api_, device));
    context_ = std::move(context);
    return {};
  }

  const std::string& device_name() const override { return name_; }
  const std::string& driver_version() const override { return driver_; }
  int compute_capability() const override { return capability_; }

  int encode(const tma::Descriptor& descriptor) override {
    RZ_CHECK(descriptor.rank <= kMostRank);
    CUtensorMap map;  // aligned by its type
    return cuda::encode(api_, descriptor, map);
  }

 private:
  static Status<void> missing(std::string what) {
    return tl::unexpected(Failure{Failure::Kind::unsupported, "no-tma", std::move(what)});
  }

  const cuda::DriverApi api_;
  std::string name_, driver_;
  int capability_ = 0;
  std::unique_ptr<cuda::PrimaryContext> context_;  // destroyed before the table of functions
};

}  // namespace

Status<std::unique_ptr<TensorMapEncoder>> open_tensor_map_encoder() {
  auto api = cuda::load_driver_api();
  if (!api)
    return tl::unexpected(Failure{Failure::Kind::unsupported, "no-driver", std::move(api.error())});
  auto encoder = std::make_unique<CudaEncoder>(*api);
  RZ_TRY(encoder->open());
  return encoder;
}

}  // namespace redzone::device
