// Room for findings in the record of a process: what repeats takes none.
#include "interpose/recorder.h"

#include <gtest/gtest.h>

#include <cstring>

#include "core/temporary_folder.h"
#include "guard/process_record.h"

namespace redzone::interpose {
namespace {

class RecorderTest : public testing::Test {
 protected:
  void SetUp() override { ASSERT_TRUE(recorder_.open(folder_->path().c_str())); }

  // A free that the function at `place` has made.
  void find(FindingKind kind, std::uint64_t place, std::uint64_t block = 1) {
    FindingRecord* const finding = recorder_.begin_finding(kind);
    if (finding == nullptr) return;
    EXPECT_EQ(finding->block_ordinal, 0u) << "something of another finding is left";
    finding->block_ordinal = block;
    std::strcpy(finding->call, "cuMemFree");
    finding->where.count = 1;
    finding->where.addresses[0] = place;
    recorder_.publish(*finding);
  }
  guard::ProcessRecord read() const {
    std::size_t unreadable = 0;
    return guard::read_process_records(folder_->path(), unreadable).at(0);
  }

  Result<TemporaryFolder> folder_ = TemporaryFolder::create("recorder-test");
  Recorder recorder_;
};

TEST_F(RecorderTest, AMistakeInALoopLeavesRoomForOthers) {
  for (std::uint64_t i = 1; i <= 3 * kMostFindings; ++i) find(FindingKind::bad_free, 7, i);
  find(FindingKind::bad_free, 8);
  find(FindingKind::canary, 8);
  find(FindingKind::bad_free, 7, 999);
  const auto process = read();
  EXPECT_EQ(process.count(Counter::findings_dropped), 0u);
  ASSERT_EQ(process.findings.size(), 3u);
  EXPECT_EQ(process.findings[0].times, 3 * kMostFindings + 1);
  EXPECT_EQ(process.findings[0].block.ordinal, 1u) << "the first is kept";
  EXPECT_EQ(process.findings[1].times, 1u);
  EXPECT_EQ(process.findings[2].kind, FindingKind::canary);
  EXPECT_EQ(process.times_found(), 3 * kMostFindings + 3);
}

TEST_F(RecorderTest, AnErrorOfTheDeviceHasRoomWhateverCameBefore) {
  for (std::uint64_t place = 1; place <= 2 * kMostFindings; ++place)
    find(FindingKind::canary, place);
  find(FindingKind::device_error, 1);
  const auto process = read();
  EXPECT_EQ(process.findings.size() + process.count(Counter::findings_dropped),
            2 * kMostFindings + 1);
  ASSERT_NE(process.first_error(), nullptr);
}

// `import torch` alone has thousands.
TEST_F(RecorderTest, TheProgramsOwnLinesHaveRoomWhateverPackagesThereAre) {
  std::uint32_t last = 0, taken = 0;
  for (std::uint32_t n = 1; n <= 2 * kPythonLines; ++n)
    if (recorder_.add_python_line("/usr/lib/python3.11/site-packages/p/a.py", "f", n) != 0)
      last = ++taken;
  EXPECT_EQ(taken, kPythonLines - kOwnPythonLines);
  for (std::uint32_t n = 1; n <= kOwnPythonLines; ++n)
    ASSERT_EQ(recorder_.add_python_line("/home/me/a.py", "f", n), last + n);
}

TEST_F(RecorderTest, LinesOfPythonThatHaveNoRoomAreCounted) {
  for (std::uint32_t n = 1; n <= kPythonLines; ++n)
    ASSERT_EQ(recorder_.add_python_line("a.py", "f", n), n);
  EXPECT_EQ(read().count(Counter::lines_dropped), 0u);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(recorder_.add_python_line("b.py", "g", 1), 0u);
  EXPECT_EQ(read().count(Counter::lines_dropped), 3u);
}

}  // namespace
}  // namespace redzone::interpose
