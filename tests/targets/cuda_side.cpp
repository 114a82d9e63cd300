#include "targets/chunk_runner.h"

namespace redzone::test {

std::variant<std::unique_ptr<device::Device>, std::string> open_test_device() {
  const auto probe = device::probe_cuda();
  if (!probe.device) return probe.problem;
  auto device = device::open_cuda_device();
  if (!device) return device.error().detail;
  return std::move(*device);
}

}  // namespace redzone::test
