// Guarded device memory and the program's contexts, streams, captures and pools.
#include <gtest/gtest.h>

#include <thread>

#include "interpose/device_layout.h"
#include "interpose/device_memory_fixture.h"

// NOLINTBEGIN: the driver's names
extern "C" {
int cuCtxDestroy_v2(redzone::interpose::CuContext);
int cuStreamDestroy_v2(redzone::interpose::CuStream);
}
// NOLINTEND

namespace redzone::interpose {
namespace {

class ErrorsTest : public DeviceMemoryTest {
 protected:
  // A kernel of the current context gives it error 700.
  static void break_context(CuStream stream) {
    fakeLaunchRead(0x10, 1, stream);
    EXPECT_EQ(cuStreamSynchronize(stream), kCuIllegalAddress);
  }
  // A block in the second context.
  CuAddress allocate_in_second() {
    cuCtxSetCurrent(kSecondContext);
    const CuAddress out = allocate(100);
    cuCtxSetCurrent(kContext);
    return out;
  }
};

TEST_F(ErrorsTest, AnAllocationThatMeetsOneReportsIt) {
  free(allocate(100));
  break_context(stream_);
  EXPECT_EQ(allocate(100), 0u);
  const auto found = findings();
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].kind, FindingKind::device_error);
  EXPECT_EQ(found[0].call, "cuMemAlloc");
}

TEST_F(ErrorsTest, AFreeReturnsIt) {
  const CuAddress at = allocate(100), other = allocate(100);
  break_context(stream_);
  for (const CuAddress one : {at, other}) {
    const auto freed = memory().free(one, std::nullopt, "cuMemFree", kNowhere);
    EXPECT_EQ(freed.freed, DeviceMemory::Freed::freed);
    EXPECT_EQ(freed.result, kCuIllegalAddress);
  }
  EXPECT_EQ(findings().size(), 1u);
}

TEST_F(ErrorsTest, TheEndOfACaptureThatMeetsOneReportsIt) {
  const CuAddress at = allocate(100);
  EXPECT_TRUE(memory().capture_begins(stream_));
  free(at);
  CuStream other = nullptr;
  ASSERT_EQ(cuStreamCreate(&other, kCuStreamNonBlocking), 0);
  break_context(other);
  memory().capture_over(stream_);
  EXPECT_EQ(findings().size(), 1u);
}

TEST_F(ErrorsTest, EachBreaksItsContextAlone) {
  allocate(100);
  const CuAddress elsewhere = allocate_in_second();
  break_context(stream_);
  memory().check_result(kCuIllegalAddress, "cuStreamSynchronize");
  EXPECT_EQ(allocate(100), 0u);
  EXPECT_TRUE(memory().is_broken());
  cuCtxSetCurrent(kSecondContext);
  EXPECT_FALSE(memory().is_broken());
  EXPECT_NE(allocate(100), 0u);
  fakeLaunchWrite(elsewhere, 101, 1, kLegacyStream);
  free(elsewhere);
  settle();
  const auto found = findings();
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[1].kind, FindingKind::canary) << "the other context is still judged";
  memory().check_result(kCuIllegalAddress, "cuCtxSynchronize");
  EXPECT_EQ(findings().size(), 3u);
}

TEST_F(ErrorsTest, TheContextOfACallMayBeAnother) {
  allocate(100);
  memory().check_result(kCuIllegalAddress, "cuCtxSynchronize", kSecondContext);
  EXPECT_NE(allocate(100), 0u);
  EXPECT_EQ(allocate_in_second(), 0u);
}

TEST_F(ErrorsTest, EndsWithItsContext) {
  allocate(100);
  break_context(stream_);
  memory().check_result(kCuIllegalAddress, "cuStreamSynchronize");
  cuCtxDestroy_v2(kContext);
  memory().context_gone(kContext);
  cuCtxSetCurrent(kContext);
  EXPECT_NE(allocate(100), 0u);
}

TEST_F(DeviceMemoryTest, ASecondBeginningOfACaptureDoesNotEndIt) {
  EXPECT_TRUE(memory().capture_begins(stream_));
  EXPECT_FALSE(memory().capture_begins(stream_));
  EXPECT_TRUE(memory().capturing());
  memory().capture_over(stream_);
  EXPECT_FALSE(memory().capturing());
}

TEST_F(DeviceMemoryTest, CapturesEndWithTheirContext) {
  cuCtxSetCurrent(kSecondContext);
  const CuAddress at = allocate(100);
  EXPECT_TRUE(memory().capture_begins(kThreadStream));
  EXPECT_TRUE(memory().capture_begins(stream_)) << "a stream of the first context";
  free(at);
  memory().context_gone(kContext);
  EXPECT_TRUE(memory().capturing());
  memory().capture_over(kThreadStream);
  EXPECT_FALSE(memory().capturing());
  settle();
  EXPECT_EQ(counted(Counter::canaries_checked), 1u);
}

TEST_F(DeviceMemoryTest, TheStreamOfEachThreadCapturesForItself) {
  EXPECT_TRUE(memory().capture_begins(kThreadStream));
  std::thread([&] {
    cuCtxSetCurrent(kContext);
    EXPECT_TRUE(memory().capture_begins(kThreadStream));
    memory().capture_over(kThreadStream);
  }).join();
  EXPECT_TRUE(memory().capturing());
  cuCtxSetCurrent(kSecondContext);
  memory().capture_over(kThreadStream);
  EXPECT_TRUE(memory().capturing()) << "that of another context";
  cuCtxSetCurrent(kContext);
  memory().capture_over(kThreadStream);
  EXPECT_FALSE(memory().capturing());
}

// Another thread may create a stream, which has its handle, and capture.
TEST_F(DeviceMemoryTest, AStreamIsForgottenBeforeItsHandleIsUsedAgain) {
  const CuAddress at = allocate(100);
  EXPECT_TRUE(memory().capture_begins(stream_));
  ASSERT_EQ(cuStreamBeginCapture_v2(stream_, 0), 0);
  free(at);
  ASSERT_TRUE(memory().capture_dies(stream_));
  EXPECT_TRUE(memory().capturing()) << "the driver has not destroyed it yet";
  cuStreamDestroy_v2(stream_);
  CuStream again = nullptr;
  cuStreamCreate(&again, kCuStreamNonBlocking);
  ASSERT_EQ(again, stream_);
  EXPECT_TRUE(memory().capture_begins(again));
  memory().capture_died();
  EXPECT_TRUE(memory().capturing());
  memory().capture_over(again);
  EXPECT_FALSE(memory().capture_dies(again));
  settle();
  EXPECT_EQ(counted(Counter::canaries_checked), 1u);
}

TEST_F(DeviceMemoryTest, AnAllocationIsOnTheDeviceOfItsStream) {
  cuCtxSetCurrent(kSecondContext);
  const CuAddress at = allocate(100, stream_), own = allocate(100, kLegacyStream);
  EXPECT_TRUE(fakeCanAccess(at, 0));
  EXPECT_FALSE(fakeCanAccess(at, 1));
  EXPECT_TRUE(fakeCanAccess(own, 1));
  cuCtxSetCurrent(kContext);
  EXPECT_TRUE(holds(at, 100, 0xff));
}

// A green context, or a second one of the program, on the same device.
TEST_F(DeviceMemoryTest, AnAllocationForAStreamOnItsDeviceIsOfTheCurrentContext) {
  const auto green = reinterpret_cast<CuContext>(0x1100);
  CuStream theirs = nullptr;
  cuCtxSetCurrent(green);
  ASSERT_EQ(cuStreamCreate(&theirs, kCuStreamNonBlocking), 0);
  cuCtxSetCurrent(kContext);
  const CuAddress at = allocate(100, theirs);
  const auto view = memory().find(at);
  ASSERT_TRUE(view);
  EXPECT_EQ(view->context, kContext);
  EXPECT_EQ(*reinterpret_cast<unsigned char*>(at), 0) << "poisoned in the order of the stream";
  free(at, theirs);
  settle();
  EXPECT_EQ(counted(Counter::canaries_checked), 1u);
  EXPECT_TRUE(findings().empty());
}

class OtherContext : public DeviceMemoryTest, public testing::WithParamInterface<bool> {};

TEST_P(OtherContext, AFreeIsInTheOrderOfItsStream) {
  const CuAddress at = allocate(100);
  cuCtxSetCurrent(kSecondContext);
  CuStream theirs = kLegacyStream;
  if (GetParam()) {
    ASSERT_EQ(cuStreamCreate(&theirs, kCuStreamNonBlocking), 0);
  }
  fakeLaunchGate(theirs);
  fakeLaunchWrite(at, 101, 1, theirs);
  EXPECT_EQ(free(at, theirs), DeviceMemory::Freed::freed);
  cuCtxSetCurrent(kContext);
  const auto* const bytes = reinterpret_cast<const unsigned char*>(at);
  fakeSetEager(true);
  allocate(100);  // asks for the event
  EXPECT_EQ(counted(Counter::canaries_checked), 0u) << "the kernel has not run";
  fakeOpenGate();
  settle();
  EXPECT_EQ(findings().size(), 1u);
  EXPECT_EQ(bytes[0], 0xff) << "poison came before the kernel";
  EXPECT_EQ(allocate(100), at) << "its memory was lost";
}

INSTANTIATE_TEST_SUITE_P(RealStream, OtherContext, testing::Bool());

TEST_F(DeviceMemoryTest, PoolsOfOtherPlacesAreTheDriversOwn) {
  const auto pool = [](std::uintptr_t at) { return reinterpret_cast<CuPool>(at); };
  CuPoolProps properties;
  properties.type = kCuAllocationPinned;
  properties.location = {kCuLocationDevice, 0};
  memory().pool_created(pool(0x10), properties);
  properties.location.id = 1;
  memory().pool_created(pool(0x20), properties);
  properties.location = {kCuLocationDevice, 0};
  properties.handle_types = 1;
  memory().pool_created(pool(0x30), properties);
  properties = {};
  properties.location.type = 2;  // of the host
  memory().pool_created(pool(0x40), properties);
  CuPool own = nullptr;
  ASSERT_EQ(driver_.get_default_pool(&own, 0), 0);
  for (const CuPool one : {pool(0x10), own}) EXPECT_TRUE(memory().guards_pool(one, stream_));
  for (const CuPool one : {pool(0x20), pool(0x30), pool(0x40), pool(0x50)})
    EXPECT_FALSE(memory().guards_pool(one, stream_));
  cuCtxSetCurrent(kSecondContext);
  EXPECT_TRUE(memory().guards_pool(pool(0x10), stream_)) << "the stream decides";
  EXPECT_TRUE(memory().guards_pool(pool(0x20), kLegacyStream));
  EXPECT_FALSE(memory().guards_pool(own, kLegacyStream));
  memory().pool_destroyed(pool(0x20));
  EXPECT_FALSE(memory().guards_pool(pool(0x20), kLegacyStream));
}

TEST_F(DeviceMemoryTest, AStreamThatCapturesIsNotAskedFor) {
  const CuAddress at = allocate(100);
  EXPECT_TRUE(memory().capture_begins(stream_));
  const int before = fakeCalls("cuStreamGetCtx");
  memory().guards_pool(nullptr, stream_);
  EXPECT_EQ(allocate(100, stream_), 0u);
  free(at, stream_);
  memory().capture_over(stream_);
  EXPECT_EQ(fakeCalls("cuStreamGetCtx"), before);
}

TEST_F(DeviceMemoryTest, TheLastReleaseOfAPrimaryContextIsKnown) {
  EXPECT_TRUE(memory().primary_releases(0)) << "retained where the guard did not see it";
  memory().primary_retained(0);
  memory().primary_retained(0);
  EXPECT_FALSE(memory().primary_releases(0));
  EXPECT_TRUE(memory().primary_releases(1));
  EXPECT_TRUE(memory().primary_releases(0));
}

TEST_F(DeviceMemoryTest, AChildIsLeftAloneOnlyIfTheDriverWasUsed) {
  memory().abandon();
  const CuAddress at = allocate(100);
  EXPECT_NE(at, 0u);
  memory().abandon();
  EXPECT_EQ(allocate(100), 0u);
  EXPECT_FALSE(memory().find(at));
  EXPECT_EQ(free(at), DeviceMemory::Freed::foreign) << "the driver answers";
}

}  // namespace
}  // namespace redzone::interpose
