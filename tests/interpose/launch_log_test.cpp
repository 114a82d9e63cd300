// The launches that a record keeps, and what findings say of them.
#include "interpose/launch_log.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <cstring>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "interpose/device_memory_fixture.h"

// NOLINTBEGIN: the driver's names
extern "C" {
int cuModuleGetFunction(void**, void*, const char*);
int cuLibraryGetKernel(void**, void*, const char*);
int cuLaunchKernel(void*, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                   redzone::interpose::CuStream, void**, void**);
}
// NOLINTEND

namespace redzone::interpose {
namespace {

using guard::KernelLaunch;

class Launches : public DeviceMemoryTest {
 protected:
  static void* kernel(const char* name, bool is_function = true) {
    void* out = nullptr;
    (is_function ? cuModuleGetFunction : cuLibraryGetKernel)(&out, nullptr, name);
    return out;
  }
  static void* writer() { return kernel("_Z9fakeWritePhmi"); }

  // As the stand-in does it: into the log, then to the driver.
  std::uint64_t write(CuAddress at, std::size_t bytes, CuStream stream, void* kernel = writer()) {
    int value = 1;
    void* arguments[] = {&at, &bytes, &value};
    LaunchLog::Call call{LaunchKind::kernel, kernel, {2, 3, 1}, {32, 1, 1}, 16, stream, arguments};
    const auto launch = launches_.begin(call, false, memory().blocks());
    launches_.end(launch,
                  cuLaunchKernel(kernel, 2, 3, 1, 32, 1, 1, 16, stream, arguments, nullptr));
    return launch;
  }
  guard::ProcessRecord record() const {
    std::size_t unreadable = 0;
    auto all = guard::read_process_records(folder_->path(), unreadable);
    EXPECT_EQ(all.size(), 1u);
    return all.size() == 1 ? all[0] : guard::ProcessRecord();
  }
  void fault_noticed() { memory().check_result(cuCtxSynchronize(), "cuCtxSynchronize"); }
};

TEST_F(Launches, AreKeptWithTheirNamesAndArguments) {
  const CuAddress at = allocate(1000);
  write(at, 8, stream_);
  write(at, 8, stream_, kernel("_Z9fakeWritePhmi", false));
  write(at, 8, stream_, kernel("_Z5otherv"));
  const auto all = record().launches;
  ASSERT_EQ(all.size(), 3u);
  EXPECT_EQ(all[0].kernel, "other()");
  EXPECT_TRUE(all[0].arguments.empty());
  for (const KernelLaunch& launch : {all[1], all[2]}) {
    EXPECT_EQ(launch.kernel, "fakeWrite(unsigned char*, unsigned long, int)");
    EXPECT_EQ(launch.state, LaunchState::launched);
    EXPECT_EQ(launch.grid, (std::array<std::uint32_t, 3>{2, 3, 1}));
    EXPECT_EQ(launch.block, (std::array<std::uint32_t, 3>{32, 1, 1}));
    EXPECT_EQ(launch.shared_bytes, 16u);
    ASSERT_EQ(launch.arguments.size(), 3u);
    EXPECT_EQ(launch.arguments[0].value, at);
    EXPECT_EQ(launch.arguments[1].value, 8u);
    EXPECT_EQ(launch.arguments[2].bytes, 4u);
    EXPECT_EQ(launch.arguments[2].value, 1u);
  }
}

// Drivers before CUDA 12.3 tell neither; what the program looked up is known.
TEST_F(Launches, WithoutNamesOfTheDriverThoseOfLookupsCount) {
  const CuAddress at = allocate(1000);
  fakeSetKernelNames(false);
  void* const known = writer();
  write(at, 8, stream_, known);
  launches_.looked_up(known, LaunchLog::Handle::function, "_Z9fakeWritePhmi");
  write(at, 8, stream_, known);
  launches_.forget_kernels();
  write(at, 8, stream_, known);
  const auto all = record().launches;
  ASSERT_EQ(all.size(), 3u);
  EXPECT_EQ(all[0].kernel, "");
  EXPECT_EQ(all[1].kernel, "fakeWrite(unsigned char*, unsigned long, int)");
  EXPECT_TRUE(all[1].arguments.empty());
  EXPECT_EQ(all[2].kernel, "");
}

TEST_F(Launches, ABufferOfArgumentsIsReadLikeThem) {
  struct {
    CuAddress at = 0x1234;
    std::size_t bytes = 8;
    int value = 7;
  } buffer;
  std::size_t bytes = sizeof buffer;
  void* extra[] = {reinterpret_cast<void*>(1), &buffer, reinterpret_cast<void*>(2), &bytes,
                   nullptr};
  launches_.begin({.kernel = writer(), .stream = stream_, .extra = extra}, false, 0);
  const auto all = record().launches;
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].state, LaunchState::calling) << "the call has not returned";
  ASSERT_EQ(all[0].arguments.size(), 3u);
  EXPECT_EQ(all[0].arguments[0].value, 0x1234u);
  EXPECT_EQ(all[0].arguments[2].value, 7u);
}

TEST_F(Launches, TheLastOnesAreKept) {
  const CuAddress at = allocate(1000);
  for (std::size_t i = 0; i < 3 * kLaunchesKept; ++i) write(at, 8, stream_);
  const auto all = record().launches;
  ASSERT_EQ(all.size(), kLaunchesKept);
  EXPECT_EQ(all.front().ordinal, 3 * kLaunchesKept);
  EXPECT_EQ(all.back().ordinal, 2 * kLaunchesKept + 1);
}

// A law: a launch is unfinished unless it was refused or captured, or a wait for its stream or for
// the context began after its call had returned. Calls and waits of several threads overlap; those
// that have no place in the record any more are counted.
TEST_F(Launches, AWaitCompletesWhatCameBeforeItInItsStream) {
  rc::check([&] {
    Recorder recorder;
    const auto folder = TemporaryFolder::create("launches-test");
    RC_ASSERT(recorder.open(folder->path().c_str()));
    LaunchLog log(driver_, recorder);
    struct Open {
      std::uint64_t launch = 0;
      int stream = 0;
      std::size_t returned = 0;  // when; 0: it has not
    };
    struct Wait {
      std::optional<int> stream;
      std::uint64_t until = 0;
      std::size_t began = 0;
    };
    std::vector<Open> open;   // oldest first
    std::vector<Wait> waits;  // that have not returned
    const auto stream_at = [](int i) { return reinterpret_cast<CuStream>(0x100 + 16 * i); };
    const auto pick = [](auto& of, int random) {
      return of.begin() + random % static_cast<int>(of.size());
    };
    using Action = std::pair<int, int>;
    const auto actions = *rc::gen::container<std::vector<Action>>(
        rc::gen::pair(rc::gen::inRange(0, 10), rc::gen::inRange(0, 60)));
    std::size_t now = 0;
    for (const auto& [action, random] : actions) {
      ++now;
      const int stream = random % 3;
      if (action < 3) {
        open.push_back({log.begin({.stream = stream_at(stream)}, false, 0), stream});
      } else if (action < 6 && !open.empty()) {
        if (auto& one = *pick(open, random); one.returned == 0) {
          log.end(one.launch, kCuSuccess);
          one.returned = now;
        }
      } else if (action == 6) {
        Wait wait{std::nullopt, log.returned(), now};
        if (random % 4 != 0) wait.stream = stream;
        waits.push_back(wait);
      } else if (action == 7 && !waits.empty()) {
        const Wait wait = *pick(waits, random);
        waits.erase(pick(waits, random));
        log.completed(kContext, wait.stream ? std::optional(stream_at(*wait.stream)) : std::nullopt,
                      wait.until);
        std::erase_if(open, [&](const Open& one) {
          return one.returned != 0 && one.returned < wait.began &&
                 (!wait.stream || *wait.stream == one.stream);
        });
      } else if (action == 8) {
        log.end(log.begin({.stream = stream_at(0)}, false, 0), kCuInvalidValue);
      } else if (action == 9) {
        for (int i = 0; i < random; ++i)  // others, that are over
          log.end(log.begin({.stream = stream_at(0)}, true, 0), kCuSuccess);
      }
    }
    log.keep_unfinished(kContext, [](CuAddress, std::uint64_t, PointerRecord&) { return false; });
    std::size_t unreadable = 0;
    const auto records = guard::read_process_records(folder->path(), unreadable);
    RC_ASSERT(records.size() == 1u);
    const std::size_t all = open.size();
    std::erase_if(open, [&](const auto& one) { return one.launch + kLaunchesKept <= log.last(); });
    std::vector<std::uint64_t> expected, kept;
    for (auto it = open.rbegin(); it != open.rend(); ++it) expected.push_back(it->launch);
    for (const auto& launch : records[0].unfinished) kept.push_back(launch.ordinal);
    RC_ASSERT(kept == expected);
    // Those of one stream are forgotten together.
    RC_ASSERT(records[0].unfinished_lost >= all - open.size());
    if (all == 0) RC_ASSERT(records[0].unfinished_lost == 0u);
  });
}

TEST_F(Launches, AWaitThatBeganBeforeALaunchSaysNothingOfIt) {
  const CuAddress at = allocate(1000);
  write(at, 8, stream_);
  const auto before = launches_.returned();
  write(at, 8, stream_);
  launches_.completed(kContext, stream_, before);
  const auto all = record().launches;
  EXPECT_EQ(all[0].state, LaunchState::launched);
  EXPECT_EQ(all[1].state, LaunchState::completed);
}

// A wait for an event completes what its stream had been given before it was recorded.
TEST_F(Launches, AnEventCompletesWhatCameBeforeItInItsStream) {
  const auto event = reinterpret_cast<CuEvent>(0x77);
  CuStream other = nullptr;
  ASSERT_EQ(cuStreamCreate(&other, kCuStreamNonBlocking), 0);
  const CuAddress at = allocate(1000);
  const auto record_event = [&](bool marks = true) {
    launches_.record_begins(event);
    launches_.record_ends(event, stream_, launches_.returned(), marks);
  };
  write(at, 8, stream_);
  write(at, 8, other);
  record_event();
  write(at, 8, stream_);
  const auto before = launches_.mark_of(event);
  ASSERT_TRUE(before);
  record_event(false);
  EXPECT_FALSE(launches_.mark_of(event)) << "a node of a graph";
  launches_.passed(*before);
  const auto all = record().launches;
  EXPECT_EQ(all[0].state, LaunchState::launched);
  EXPECT_EQ(all[1].state, LaunchState::launched) << "of another stream";
  EXPECT_EQ(all[2].state, LaunchState::completed);
  record_event();
  EXPECT_TRUE(launches_.mark_of(event));
  launches_.event_gone(event);
  EXPECT_FALSE(launches_.mark_of(event));
}

TEST_F(Launches, AnEventThatTwoThreadsRecordAtOnceSaysNothing) {
  const auto event = reinterpret_cast<CuEvent>(0x77);
  launches_.record_begins(event);
  launches_.record_begins(event);
  launches_.record_ends(event, stream_, 0, true);
  EXPECT_FALSE(launches_.mark_of(event));
  launches_.record_ends(event, stream_, 0, true);
  EXPECT_FALSE(launches_.mark_of(event));
  launches_.record_begins(event);
  EXPECT_FALSE(launches_.mark_of(event)) << "it is being recorded";
  launches_.record_ends(event, stream_, 0, true);
  EXPECT_TRUE(launches_.mark_of(event));
}

// The default stream of a thread is that of the thread which recorded the event.
TEST_F(Launches, AnEventOfAThreadsStreamIsOfTheThreadThatRecordedIt) {
  const auto event = reinterpret_cast<CuEvent>(0x77);
  launches_.end(launches_.begin({.stream = kThreadStream}, false, 0), kCuSuccess);
  launches_.record_begins(event);
  launches_.record_ends(event, kThreadStream, launches_.returned(), true);
  std::thread([&] {
    cuCtxSetCurrent(kContext);
    launches_.end(launches_.begin({.stream = kThreadStream}, false, 0), kCuSuccess);
    auto mark = *launches_.mark_of(event);
    mark.until = launches_.returned();  // whatever came before it
    launches_.passed(mark);
  }).join();
  const auto all = record().launches;
  EXPECT_EQ(all[0].state, LaunchState::launched);
  EXPECT_EQ(all[1].state, LaunchState::completed);
}

// The wait may have found nothing: the launch comes to the driver when it is over.
TEST_F(Launches, AWaitThatBeganWithinTheCallOfALaunchSaysNothingOfIt) {
  const auto launch = launches_.begin({.stream = stream_}, false, 0);
  const auto until = launches_.returned();
  launches_.end(launch, kCuSuccess);
  launches_.completed(kContext, std::nullopt, until);
  EXPECT_EQ(record().launches[0].state, LaunchState::launched);
}

// One launch that runs on, and more in another stream than the record keeps.
TEST_F(Launches, ThoseThatHaveLostTheirPlaceAreCounted) {
  CuStream other = nullptr;
  ASSERT_EQ(cuStreamCreate(&other, kCuStreamNonBlocking), 0);
  const CuAddress at = allocate(1000);
  write(at, std::size_t{8} << 20, stream_);
  for (std::size_t i = 0; i < 2 * kLaunchesKept; ++i)
    launches_.end(launches_.begin({.stream = other}, false, 0), kCuSuccess);
  launches_.completed(kContext, other, launches_.returned());
  fault_noticed();
  EXPECT_TRUE(record().unfinished.empty());
  EXPECT_EQ(record().unfinished_lost, 1u);
}

TEST_F(Launches, AnErrorHasThoseThatMayHaveMadeItWithTheirBlocks) {
  const CuAddress first = allocate(1000), second = allocate(4096);
  write(first, 8, stream_);
  ASSERT_EQ(cuStreamSynchronize(stream_), 0);
  launches_.completed(kContext, stream_, launches_.returned());
  write(first + 16, 8, stream_);
  write(second, 4100, stream_);
  fault_noticed();
  const auto process = record();
  ASSERT_EQ(process.findings.size(), 1u);
  ASSERT_EQ(process.unfinished.size(), 2u);
  ASSERT_EQ(process.unfinished[0].pointers.size(), 1u);
  EXPECT_EQ(process.unfinished[0].pointers[0].block.ordinal, 2u);
  EXPECT_EQ(process.unfinished[0].pointers[0].value, second);
  ASSERT_EQ(process.unfinished[1].pointers.size(), 1u);
  EXPECT_EQ(process.unfinished[1].pointers[0].block.address, first);
  EXPECT_EQ(process.unfinished[1].pointers[0].value, first + 16);
}

// The pointer is that of the freed block, though another one has its address now.
TEST_F(Launches, ABlockThatIsNewerThanTheLaunchIsNotWhatItPointsTo) {
  const CuAddress at = allocate(4096, stream_);
  ASSERT_EQ(free(at, stream_), DeviceMemory::Freed::freed);
  write(at, 8, stream_);
  settle();
  ASSERT_EQ(allocate(4096, stream_), at);
  fakeLaunchWrite(at, std::size_t{8} << 20, 1, stream_);
  fault_noticed();
  const auto process = record();
  ASSERT_EQ(process.unfinished.size(), 1u);
  EXPECT_TRUE(process.unfinished[0].pointers.empty());
}

TEST_F(Launches, TheNeighbourOfAnAddressIsKnownAfterAnError) {
  const CuAddress first = allocate(1000), second = allocate(4096);
  write(second, 4100, stream_);
  fault_noticed();
  const auto process = record();
  const auto after = guard::neighbour_of(process, second + 4096 + 3);
  ASSERT_TRUE(after);
  EXPECT_EQ(after->block.ordinal, 2u);
  EXPECT_EQ(after->side, Side::after);
  EXPECT_EQ(after->distance_bytes, 4u);
  const auto inside = guard::neighbour_of(process, first + 5);
  ASSERT_TRUE(inside);
  EXPECT_EQ(inside->block.ordinal, 1u);
  EXPECT_EQ(inside->side, Side::inside);
  EXPECT_FALSE(guard::neighbour_of(process, 16));
}

class Narrowing : public Launches {};

TEST_F(Narrowing, NamesTheFirstLaunchAfterWhichACanaryWasWrong) {
  const CuAddress at = allocate(1000), other = allocate(1000);
  const auto run = [&](CuAddress to, std::size_t bytes) {
    const auto launch = write(to, bytes, stream_);
    ASSERT_EQ(cuStreamSynchronize(stream_), 0);
    fakeSetEager(true);
    memory().check_after(launch);
    fakeSetEager(false);
  };
  run(at, 1000);
  run(other, 1004);
  run(other, 1008);
  const auto all = findings();
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].kind, FindingKind::canary);
  EXPECT_EQ(all[0].block.ordinal, 2u);
  EXPECT_EQ(all[0].launch.ordinal, 2u);
  EXPECT_EQ(all[0].launches_since_right, 1u);
  EXPECT_EQ(all[0].launch.kernel, "fakeWrite(unsigned char*, unsigned long, int)");
  ASSERT_EQ(all[0].launch.pointers.size(), 1u);
  EXPECT_EQ(all[0].launch.pointers[0].block.ordinal, 2u);
}

// Another thread has launched meanwhile: it may have been either.
TEST_F(Narrowing, CountsTheLaunchesSinceAllWasRight) {
  const CuAddress at = allocate(1000);
  write(at, 1004, stream_);
  const auto launch = write(at, 8, stream_);
  ASSERT_EQ(cuStreamSynchronize(stream_), 0);
  fakeSetEager(true);
  memory().check_after(launch);
  const auto all = findings();
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].launch.ordinal, 2u);
  EXPECT_EQ(all[0].launches_since_right, 2u);
}

// The check after the first launch is given up, since the device works on.
TEST_F(Narrowing, ACheckThatWasGivenUpSaysNothing) {
  const CuAddress at = allocate(1000);
  const auto guilty = write(at, 1004, stream_);
  ASSERT_EQ(cuStreamSynchronize(stream_), 0);
  memory().check_after(guilty);
  EXPECT_TRUE(findings().empty());
  const auto innocent = write(at, 8, stream_);
  ASSERT_EQ(cuStreamSynchronize(stream_), 0);
  fakeSetEager(true);
  memory().check_after(innocent);
  const auto all = findings();
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].launches_since_right, 2u);
}

TEST_F(Narrowing, MakesNoCallWhileAStreamCaptures) {
  const CuAddress at = allocate(1000);
  const auto launch = write(at, 1004, stream_);
  CuGraph graph = nullptr;
  CuStream other = nullptr;
  ASSERT_EQ(cuStreamCreate(&other, kCuStreamNonBlocking), 0);
  memory().capture_begins(other);
  ASSERT_EQ(cuStreamBeginCapture_v2(other, 0), 0);
  memory().check_after(launch);
  EXPECT_EQ(cuStreamEndCapture(other, &graph), 0);
  memory().capture_over(other);
  EXPECT_TRUE(findings().empty());
}

}  // namespace
}  // namespace redzone::interpose
