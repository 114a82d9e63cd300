// The conformance tests of every device, on the GPU.
#include "tests/device/conformance.h"

#include "gpu/gpu_fixture.h"

namespace redzone::gpu_test {
namespace {

class GpuConformance : public GpuTest {};

TEST_F(GpuConformance, Info) {
  device::testing::info_is_complete(device());
}
TEST_F(GpuConformance, Fills) {
  device::testing::fills_are_as_defined(device());
}
TEST_F(GpuConformance, WrongBytes) {
  device::testing::wrong_bytes_are_found(device());
}
TEST_F(GpuConformance, Streams) {
  device::testing::streams_are_ordered(device());
}
TEST_F(GpuConformance, Gate) {
  device::testing::held_work_runs_when_opened(device());
}
TEST_F(GpuConformance, SignalsForceEitherOrder) {
  device::testing::signals_force_either_order(device());
}
TEST_F(GpuConformance, SignalsOfTheHostAndOfNobodyEnd) {
  device::testing::signals_of_the_host_and_of_nobody_end(device());
}
TEST_F(GpuConformance, SteadyState) {
  device::testing::steady_state_maps_nothing(device());
}

}  // namespace
}  // namespace redzone::gpu_test
