// Attribution of late faults, tested with a model of streams that stop at some operation.
#include "trial/progress_markers.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <map>

namespace redzone::trial {
namespace {

// Enqueues like a trial and records the operations of each stream.
class Streams {
 public:
  void call(std::int32_t index, const std::vector<std::pair<int, std::string>>& launches) {
    for (const auto& mark : markers.due(index)) queues[mark.stream].push_back({-1, mark.number});
    for (const auto& [stream, kernel] : launches) {
      markers.add(stream, index, kernel);
      queues[stream].push_back({index, 0});
    }
  }
  // The last progress marker among the first `done` operations of the stream.
  std::uint32_t reached(int stream, std::size_t done) const {
    std::uint32_t last = 0;
    const auto& queue = queues.at(stream);
    for (std::size_t i = 0; i < done; ++i) last = std::max(last, queue[i].mark);
    return last;
  }

  struct Operation {
    std::int32_t call;   // the kernel's call
    std::uint32_t mark;  // 0 for a kernel
  };
  ProgressMarkers markers;
  std::map<int, std::vector<Operation>> queues;
};

TEST(ProgressMarkers, NothingIsBlamedWhereNothingWasEnqueued) {
  ProgressMarkers markers;
  EXPECT_EQ(markers.attribute([](int) { return 0u; }).call, -1);
  EXPECT_TRUE(markers.due(0).empty());
}

TEST(ProgressMarkers, ANewTrialCountsFromOne) {
  ProgressMarkers markers;
  for (int trial = 0; trial < 2; ++trial) {
    markers.begin();
    markers.add(0, 0, "k");
    ASSERT_EQ(markers.due(1).size(), 1u);
    EXPECT_EQ(markers.due(1).size(), 0u);
    markers.add(0, 1, "k");
    EXPECT_EQ(markers.due(2)[0].number, 2u);
  }
}

TEST(ProgressMarkers, TheSameCallAgainNeedsNoMark) {
  ProgressMarkers markers;
  markers.add(0, 4, "k");
  EXPECT_TRUE(markers.due(4).empty());
  EXPECT_EQ(markers.due(5).size(), 1u);
}

TEST(ProgressMarkers, OfSeveralStreamsTheEarliestIsBlamedWithANote) {
  Streams s;
  s.call(0, {{0, "a"}});
  s.call(1, {{1, "b"}});
  s.call(2, {{0, "c"}});
  const auto attributed = s.markers.attribute([](int stream) { return stream == 0 ? 1u : 0u; });
  EXPECT_EQ(attributed.call, 1);
  EXPECT_EQ(attributed.kernel, "");  // too uncertain for a signature
  EXPECT_EQ(attributed.note, "the earliest that was unfinished; so was call 3 on stream 0");
}

TEST(ProgressMarkers, KernelsAreNamedOnceAndNotWithoutBound) {
  ProgressMarkers markers;
  for (int i = 0; i < 1000; ++i) markers.add(0, 0, "k" + std::to_string(i % 20));
  const auto note = markers.attribute([](int) { return 0u; }).note;
  EXPECT_EQ(note, "one of its kernels k0, k1, k2, k3, k4, k5, k6, k7");
}

// Each stream runs its queue from the front. One stops at a kernel that faults, the others stop
// anywhere.
TEST(ProgressMarkers, TheFaultingCallIsACandidateAndIsNamedWhereItIsTheOnlyOne) {
  ASSERT_TRUE(rc::check([] {
    const int streams = *rc::gen::inRange(1, 4);
    const int calls = *rc::gen::inRange(1, 12);
    Streams s;
    for (std::int32_t c = 0; c < calls; ++c) {
      const auto of = *rc::gen::container<std::vector<int>>(rc::gen::inRange(0, streams));
      std::vector<std::pair<int, std::string>> launches;
      for (int stream : of) launches.emplace_back(stream, "k" + std::to_string(c));
      s.call(c, launches);
    }
    std::vector<std::pair<int, std::size_t>> kernels;
    for (const auto& [stream, queue] : s.queues)
      for (std::size_t i = 0; i < queue.size(); ++i)
        if (queue[i].mark == 0) kernels.emplace_back(stream, i);
    RC_PRE(!kernels.empty());
    const auto [bad_stream, bad] = *rc::gen::elementOf(kernels);
    const std::int32_t faulty = s.queues[bad_stream][bad].call;

    std::map<int, std::size_t> done;
    bool others_finished = true;
    for (const auto& [stream, queue] : s.queues) {
      done[stream] =
          stream == bad_stream ? bad : *rc::gen::inRange<std::size_t>(0, queue.size() + 1);
      // A stream without a progress marker at its end counts as unfinished.
      const bool finished = done[stream] == queue.size() && queue.back().mark != 0;
      others_finished = others_finished && (stream == bad_stream || finished);
    }
    const auto attributed =
        s.markers.attribute([&](int stream) { return s.reached(stream, done.at(stream)); });
    RC_ASSERT(attributed.call >= 0);
    RC_ASSERT(attributed.call <= faulty);  // in this model calls are enqueued in order
    if (others_finished) {
      RC_ASSERT(attributed.call == faulty);
      RC_ASSERT(attributed.kernel == "k" + std::to_string(faulty));
      RC_ASSERT(attributed.note.empty());
    }
  }));
}

}  // namespace
}  // namespace redzone::trial
