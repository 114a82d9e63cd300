#include "targets/chunk_runner.h"

namespace redzone::test {

std::variant<std::unique_ptr<device::Device>, std::string> open_test_device() {
  return device::open_host_device();
}

}  // namespace redzone::test
