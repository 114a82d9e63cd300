#include "guard/process_record.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <memory>

#include "core/temporary_folder.h"

namespace redzone::guard {
namespace {

using interpose::Record;

class ProcessRecordTest : public testing::Test {
 protected:
  std::filesystem::path write(const std::string& name, const Record& record,
                              std::size_t bytes = sizeof(Record)) {
    auto file = folder_->path() / name;
    std::ofstream(file, std::ios::binary)
        .write(reinterpret_cast<const char*>(&record), static_cast<std::streamsize>(bytes));
    return file;
  }
  static std::unique_ptr<Record> sample() {
    auto out = std::make_unique<Record>();
    out->magic = interpose::kRecordMagic;
    out->layout_bytes = sizeof(Record);
    out->pid = 12;
    std::strcpy(out->program, "/usr/bin/train");
    out->counters[static_cast<std::size_t>(Counter::device_blocks)] = 5;
    out->facts[static_cast<std::size_t>(Fact::driver_proven)] = 1;
    auto& finding = out->findings[0];
    finding.kind = FindingKind::canary;
    finding.access = Access::write;
    finding.side = Side::after;
    finding.block_ordinal = 3;
    finding.allocated.count = 1;
    finding.allocated.addresses[0] = 0x10;
    finding.state = interpose::FindingState::complete;
    return out;
  }

  Result<TemporaryFolder> folder_ = TemporaryFolder::create("process-record-test");
};

TEST_F(ProcessRecordTest, IsReadAsItWasWritten) {
  const auto read = read_process_record(write("12.0.record", *sample()));
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->pid, 12u);
  EXPECT_EQ(read->program, "/usr/bin/train");
  EXPECT_EQ(read->count(Counter::device_blocks), 5u);
  EXPECT_TRUE(read->is(Fact::driver_proven));
  EXPECT_FALSE(read->is(Fact::ended));
  ASSERT_EQ(read->findings.size(), 1u);
  EXPECT_EQ(read->findings[0].kind, FindingKind::canary);
  EXPECT_EQ(read->findings[0].block.ordinal, 3u);
  ASSERT_EQ(read->findings[0].allocated.size(), 1u);
  EXPECT_EQ(read->findings[0].allocated[0].address, 0x10u);
}

// A recorder makes no record, but a file of zeros.
TEST_F(ProcessRecordTest, AnEmptyRecordIsAllZero) {
  const auto record = std::make_unique<Record>();
  const auto* const bytes = reinterpret_cast<const unsigned char*>(record.get());
  EXPECT_TRUE(std::all_of(bytes, bytes + sizeof(Record), [](unsigned char b) { return b == 0; }));
}

TEST_F(ProcessRecordTest, LaunchesThatMakeNoSenseAreCutOff) {
  auto record = sample();
  auto& launch = record->launches[3];
  launch.ordinal = 3;
  launch.parameters = launch.pointers_found = launch.argument_bytes = 4000000;
  launch.state = static_cast<interpose::LaunchState>(99);
  std::memset(launch.name, 'x', sizeof launch.name);
  std::memset(launch.offsets, 0xff, sizeof launch.offsets);
  launch.pointers[0].offset_bytes = 4000000;
  record->unfinished_count = 4000000;
  const auto read = read_process_record(write("d.record", *record));
  ASSERT_TRUE(read);
  ASSERT_EQ(read->launches.size(), 1u);
  EXPECT_EQ(read->launches[0].kernel.size(), sizeof launch.name);
  EXPECT_EQ(read->launches[0].arguments.size(), interpose::kParametersKept);
  EXPECT_EQ(read->launches[0].pointers.size(), interpose::kPointersKept);
  EXPECT_EQ(read->unfinished.size(), interpose::kLaunchesKept);
}

TEST_F(ProcessRecordTest, AnErrorIsOfTheKernelThatAllUnfinishedLaunchesAreOf) {
  auto record = sample();
  record->findings[0].kind = FindingKind::device_error;
  record->unfinished_count = 2;
  for (int i = 0; i < 2; ++i) {
    record->unfinished[i].ordinal = 1 + static_cast<std::uint64_t>(i);
    std::strcpy(record->unfinished[i].name, "_Z4fillPfi");
  }
  const auto kernel = [&] {
    return read_process_record(write("k.record", *record))->findings.at(0).only_kernel;
  };
  EXPECT_EQ(kernel(), "fill");
  record->unfinished_lost = 1;
  EXPECT_EQ(kernel(), "") << "of one nothing is known";
  record->unfinished_lost = 0;
  std::strcpy(record->unfinished[1].name, "scale");
  EXPECT_EQ(kernel(), "");
  record->unfinished[1].name[0] = 0;
  EXPECT_EQ(kernel(), "") << "a graph, or an old driver";
  record->unfinished_count = 0;
  EXPECT_EQ(kernel(), "");
}

// The process was killed while it wrote, or has damaged its own record.
TEST_F(ProcessRecordTest, FindingsThatMakeNoSenseAreLeftOut) {
  auto record = sample();
  record->findings[0].state = interpose::FindingState::written;
  EXPECT_TRUE(read_process_record(write("a.record", *record))->findings.empty());
  record = sample();
  record->findings[0].kind = static_cast<FindingKind>(77);
  EXPECT_TRUE(read_process_record(write("b.record", *record))->findings.empty());
  record = sample();
  record->findings[0].allocated.count = 4000000;
  std::memset(record->program, 'x', sizeof record->program);
  const auto read = read_process_record(write("c.record", *record));
  ASSERT_TRUE(read);
  EXPECT_EQ(read->findings.at(0).allocated.size(), interpose::kFrames);
  EXPECT_EQ(read->program.size(), sizeof record->program);
}

TEST_F(ProcessRecordTest, FilesOfOthersAreErrors) {
  auto record = sample();
  EXPECT_FALSE(read_process_record(write("short.record", *record, 100)));
  EXPECT_FALSE(read_process_record(folder_->path() / "none.record"));
  record->magic = 1;
  EXPECT_FALSE(read_process_record(write("magic.record", *record)));
  record = sample();
  record->layout_bytes = 5;
  EXPECT_FALSE(read_process_record(write("layout.record", *record)));
  std::size_t unreadable = 0;
  write("good.record", *sample());
  write("other.file", *sample());
  EXPECT_EQ(read_process_records(folder_->path(), unreadable).size(), 1u);
  EXPECT_EQ(unreadable, 3u);
}

}  // namespace
}  // namespace redzone::guard
