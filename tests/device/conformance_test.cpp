// The conformance tests on the host device.
#include "tests/device/conformance.h"

#include <gtest/gtest.h>

namespace redzone::device {
namespace {

class HostConformance : public ::testing::Test {
 protected:
  std::unique_ptr<Device> device_ = open_host_device();
};

TEST_F(HostConformance, FillsAreAsDefined) {
  testing::fills_are_as_defined(*device_);
}
TEST_F(HostConformance, WrongBytesAreFound) {
  testing::wrong_bytes_are_found(*device_);
}
TEST_F(HostConformance, StreamsAreOrdered) {
  testing::streams_are_ordered(*device_);
}
TEST_F(HostConformance, HeldWorkRunsWhenOpened) {
  testing::held_work_runs_when_opened(*device_);
}
TEST_F(HostConformance, SignalsForceEitherOrder) {
  testing::signals_force_either_order(*device_);
}
TEST_F(HostConformance, SignalsOfTheHostAndOfNobodyEnd) {
  testing::signals_of_the_host_and_of_nobody_end(*device_);
}
TEST_F(HostConformance, SteadyStateMapsNothing) {
  testing::steady_state_maps_nothing(*device_);
}
TEST_F(HostConformance, InfoIsComplete) {
  testing::info_is_complete(*device_);
}

}  // namespace
}  // namespace redzone::device
