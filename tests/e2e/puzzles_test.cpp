// `redzone run` finds every puzzle, reports the failure that its note expects and reduces it to the
// minimum that the note states; `redzone replay` reproduces it. Built twice: the short build runs
// some quick campaigns with one seed, the long build all others (LONG_CAMPAIGNS).
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "core/names.h"
#include "core/plan_text.h"
#include "e2e/cli.h"
#include "puzzles/notes.h"
#include "puzzles/shipped.h"

namespace redzone::e2e {
namespace {

using puzzles::Expectation;
using puzzles::Note;

// Enough for every puzzle with every seed tried.
constexpr int kPlans = 200;
// Each hanging plan costs a deadline.
constexpr int kHangingPlans = 6;

// A few seconds each: illegal accesses, overrun guards, races and missing order, refused
// descriptors.
constexpr std::array<std::string_view, 14> kQuick{"argument_block",  "empty_keys",
                                                  "far_write",       "graph_freed_pointer",
                                                  "last_tile",       "lazy_scratch_first_call",
                                                  "negative_stride", "pool_overrun",
                                                  "read_past_end",   "row_minus_one",
                                                  "shared_counter",  "stream_reuse",
                                                  "tma_box",         "tma_unit_stride"};

struct Campaign {
  Note note;
  int seed;
};

void PrintTo(const Campaign& campaign, std::ostream* os) {
  *os << campaign.note.name;
}

// The second seed shows a puzzle that one of the two happens to miss.
std::vector<Campaign> campaigns() {
  std::vector<Campaign> out;
  for (const auto& note : puzzles::shipped_notes()) {
    if (note.control) continue;
    const bool quick = std::find(kQuick.begin(), kQuick.end(), note.name) != kQuick.end();
    if (quick != LONG_CAMPAIGNS) out.push_back({note, 1});
    if (LONG_CAMPAIGNS) out.push_back({note, 2});
  }
  return out;
}

Signature signature_of(const Json& json) {
  const auto kind = parse_name<FailKind>(json["kind"].get<std::string>());
  EXPECT_TRUE(kind);
  return {*kind, json["target"], json["where"], json["buffer"], json["side"], json["access"]};
}

// The expectation of the note that the finding meets.
const Expectation* expected(const Note& note, const Json& finding) {
  const Signature signature = signature_of(finding["signature"]);
  for (const auto& e : note.expectations)
    if (puzzles::matches(e, signature)) return &e;
  return nullptr;
}

class Puzzles : public testing::TestWithParam<Campaign> {
 protected:
  Ran run(const Arguments& arguments) { return redzone(folder_, arguments); }
  const TempFolder folder_;
};

TEST_P(Puzzles, AreFoundReducedAndReplayed) {
  const auto& [note, seed] = GetParam();
  const TargetSpec& spec = puzzles::shipped_spec(note.puzzle());
  const bool hangs = note.expectations[0].kinds[0] == FailKind::hang;
  const std::string deadline = hangs ? "2s" : kLongDeadline;
  const Ran ran =
      run({"run", note.puzzle(), "--device", "host", "--seed", std::to_string(seed), "--plans",
           std::to_string(hangs ? kHangingPlans : kPlans), "--deadline", deadline, "--json"});
  ASSERT_EQ(ran.exit, 1) << ran;
  const Json campaign = ran.json();
  ASSERT_TRUE(campaign.is_object()) << ran;
  EXPECT_EQ(campaign["verdicts"]["harness_error"], 0) << ran;
  int found = 0;
  for (Json finding : campaign["findings"]) {
    if (finding["state"] == "unconfirmed") continue;
    const std::string id = std::to_string(finding["id"].get<int>());
    // The time limit for reducing is short, and the machine may be busy.
    if (!finding["minimal"].get<bool>()) {
      const Ran again = run(
          {"reduce", id, "--device", "host", "--time", "10m", "--deadline", deadline, "--json"});
      ASSERT_EQ(again.exit, 1) << again;
      finding = again.json();
    }
    ++found;
    EXPECT_EQ(finding["state"], "confirmed") << finding["signature"]["text"];
    EXPECT_EQ(finding["minimal"], true) << finding["signature"]["text"];
    const Expectation* expectation = expected(note, finding);
    ASSERT_NE(expectation, nullptr) << "not in the note: " << finding["signature"]["text"];
    const auto plan = parse_plan(finding["plan"].get<std::string>());
    ASSERT_TRUE(plan) << plan.error().message;
    const auto& minima = expectation->minima;
    EXPECT_TRUE(
        std::any_of(minima.begin(), minima.end(),
                    [&](const auto& minimum) { return puzzles::is_minimum(*plan, minimum, spec); }))
        << finding["signature"]["text"] << " ends at\n"
        << finding["plan"].get<std::string>();
    const Ran replayed = run({"replay", id, "--device", "host", "--runs", "3"});
    EXPECT_EQ(replayed.exit, 1) << replayed;
  }
  EXPECT_GT(found, 0) << ran;
}

INSTANTIATE_TEST_SUITE_P(Shipped, Puzzles, testing::ValuesIn(campaigns()), [](const auto& info) {
  return info.param.note.name + "_seed_" + std::to_string(info.param.seed);
});

}  // namespace
}  // namespace redzone::e2e
