// Tensors of PyTorch as blocks: the streams of their frees, and the memory of graphs.
#include "interpose/torch_blocks.h"

#include <gtest/gtest.h>

#include "interpose/device_memory_fixture.h"

namespace redzone::interpose {
namespace {

constexpr GraphPools::Pool kPool{0, 7};
constexpr int kPoison = 0xff;

class TorchBlocksTest : public DeviceMemoryTest {
 protected:
  void SetUp() override {
    DeviceMemoryTest::SetUp();
    ASSERT_EQ(cuStreamCreate(&side_, kCuStreamNonBlocking), 0);
    torch_.emplace(driver_, memory());
  }
  CuAddress tensor(std::size_t bytes = 100) { return torch_->allocate(bytes, stream_, kNowhere); }
  void free_tensor(CuAddress block) { torch_->free(block, stream_, kNowhere); }
  void begin_capture() {
    torch_->begin_pool(kPool);
    memory().capture_begins(stream_);
    ASSERT_EQ(cuStreamBeginCapture_v2(stream_, 0), 0);
  }
  // What cuStreamEndCapture() says: an error if the capture was invalidated.
  int end_capture() {
    CuGraph graph = nullptr;
    const int result = cuStreamEndCapture(stream_, &graph);
    memory().capture_over(stream_);
    torch_->end_pool(kPool);
    return result;
  }

  CuStream side_ = nullptr;
  std::optional<TorchBlocks> torch_;
};

TEST_F(TorchBlocksTest, AFreeIsInTheOrderOfItsStream) {
  const CuAddress block = tensor();
  cuCtxSynchronize();
  fakeLaunchWrite(block, 4, 7, stream_);
  free_tensor(block);
  cuStreamSynchronize(stream_);
  EXPECT_TRUE(holds(block, 100, kPoison)) << "poisoned after the kernel of its stream";
}

// The stream that frees it waits for nothing: what another one still does with the block is lost,
// as the memory is poisoned meanwhile.
TEST_F(TorchBlocksTest, WithoutRecordStreamAnotherStreamReadsPoison) {
  const CuAddress block = tensor();
  cuCtxSynchronize();
  fakeLaunchGate(side_);
  fakeLaunchWrite(block, 4, 7, side_);
  free_tensor(block);
  cuStreamSynchronize(stream_);
  EXPECT_TRUE(fakeIsMapped(block, 100));
  const auto* const bytes = reinterpret_cast<const unsigned char*>(block);
  EXPECT_EQ(bytes[50], kPoison);
  fakeOpenGate();
}

TEST_F(TorchBlocksTest, ARecordedStreamIsWaitedForAsWell) {
  const CuAddress block = tensor();
  cuCtxSynchronize();
  torch_->record_stream(block, side_);
  torch_->record_stream(block, side_);
  fakeLaunchGate(side_);
  fakeLaunchWrite(block, 4, 7, side_);
  free_tensor(block);
  cuStreamSynchronize(stream_);
  const CuAddress next = tensor();
  EXPECT_NE(next, block) << "the other stream still uses it";
  fakeOpenGate();
  settle();
  EXPECT_TRUE(holds(block, 100, kPoison)) << "poisoned after the kernel of the other stream";
  EXPECT_TRUE(findings().empty());
}

// The default stream that was recorded is that of the block's own context.
TEST_F(TorchBlocksTest, ARecordedDefaultStreamIsOfTheContextOfTheBlock) {
  const CuAddress block = tensor();
  cuCtxSynchronize();
  torch_->record_stream(block, kLegacyStream);
  fakeLaunchWrite(block, 104, 7, kLegacyStream);
  cuCtxSetCurrent(kSecondContext);
  free_tensor(block);
  cuCtxSetCurrent(kContext);
  settle();
  EXPECT_TRUE(holds(block, 100, kPoison));
  ASSERT_EQ(findings().size(), 1u) << "its canaries are copied after that stream";
}

TEST_F(TorchBlocksTest, ARecordedStreamOfNoBlockIsNothing) {
  torch_->record_stream(0x1234, side_);
  free_tensor(tensor());
  settle();
  EXPECT_TRUE(findings().empty());
}

TEST_F(TorchBlocksTest, RetiredMemoryFaultsForAStreamThatWasNotRecorded) {
  settings_.retire = Retire::all;
  const CuAddress block = tensor();
  cuCtxSynchronize();
  fakeLaunchGate(side_);
  fakeLaunchRead(block, 4, side_);
  free_tensor(block);
  cuStreamSynchronize(stream_);
  memory().retire_passed("cuStreamSynchronize");
  EXPECT_FALSE(fakeIsMapped(block, 100));
  fakeOpenGate();
  EXPECT_EQ(cuStreamSynchronize(side_), kCuIllegalAddress);
}

TEST_F(TorchBlocksTest, ACaptureTakesWhatIsReadyAndElseMemoryOfTheDriver) {
  free_tensor(tensor(100));
  cuCtxSynchronize();
  memory().retire_passed("cuCtxSynchronize");
  begin_capture();
  const CuAddress ready = tensor(100), plain = tensor(5000);
  EXPECT_NE(ready, 0u);
  EXPECT_NE(plain, 0u);
  EXPECT_TRUE(memory().find(ready));
  EXPECT_FALSE(memory().find(plain));
  EXPECT_EQ(fakePlainBlocks(), 1);
  EXPECT_EQ(counted(Counter::left_out_capture), 1u);
  EXPECT_EQ(end_capture(), 0) << "the capture was not invalidated";
}

TEST_F(TorchBlocksTest, MemoryOfAGraphStaysUntilItsPoolIsReleased) {
  free_tensor(tensor(100));
  cuCtxSynchronize();
  memory().retire_passed("cuCtxSynchronize");
  begin_capture();
  const CuAddress ready = tensor(100), plain = tensor(5000);
  free_tensor(ready);
  free_tensor(plain);
  EXPECT_EQ(end_capture(), 0);
  EXPECT_TRUE(memory().find(ready)) << "a replay writes to it";
  EXPECT_EQ(fakePlainBlocks(), 1);
  fakeLaunchWrite(ready, 100, 3, stream_);
  EXPECT_TRUE(holds(ready, 100, 3));
  torch_->release_pool(kPool);
  EXPECT_FALSE(memory().find(ready));
  EXPECT_EQ(fakePlainBlocks(), 0);
  settle();
  EXPECT_TRUE(findings().empty());
}

// Of a stream that does not capture: its free is only put off.
TEST_F(TorchBlocksTest, OtherFreesDuringACaptureAreDoneAfterIt) {
  const CuAddress guarded = tensor(100);
  begin_capture();
  const CuAddress plain = torch_->allocate(100, side_, kNowhere);
  ASSERT_NE(plain, 0u);
  torch_->free(plain, side_, kNowhere);
  free_tensor(guarded);
  EXPECT_EQ(fakePlainBlocks(), 1);
  EXPECT_EQ(end_capture(), 0);
  torch_->release_pool(kPool);
  EXPECT_EQ(fakePlainBlocks(), 0);
  EXPECT_FALSE(memory().find(guarded));
}

TEST_F(TorchBlocksTest, WithoutMemoryThereIsNone) {
  fakeLimitMemory(0);
  EXPECT_EQ(tensor(), 0u);
}

}  // namespace
}  // namespace redzone::interpose
