#include "core/plan_text.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <set>

#include "core/sample.h"

namespace redzone {
namespace {

constexpr const char* kHead = "redzone_plan = 1\ntarget = \"t\"\n";

std::string parse_error(std::string_view text) {
  const auto plan = parse_plan(text, "f.toml");
  if (plan) return "parsed";
  EXPECT_EQ(plan.error().kind, ErrorKind::usage);
  EXPECT_EQ(plan.error().message.find('\n'), std::string::npos);
  return plan.error().message;
}

TEST(PlanText, RoundTrip) {
  const Plan plan = testing::sample_plan();
  const auto again = parse_plan(print_plan(plan));
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(*again, plan);
  EXPECT_EQ(print_plan(*again), print_plan(plan));
}

// A target's name becomes part of file names.
TEST(PlanText, TargetsAreNames) {
  for (const char* name : {"", "..", "../../outside/x", "a/b", "A", "a b", "a\\u001B[2J"})
    EXPECT_NE(parse_error(std::string("redzone_plan = 1\ntarget = \"") + name +
                          "\"\n[[step]]\ndo = \"sync\"\n")
                  .find("[a-z0-9_.]+"),
              std::string::npos)
        << name;
}

TEST(PlanText, LayoutsOfAttention) {
  Plan plan = testing::sample_plan();
  std::get<CallStep>(plan.steps[0]).call.layouts["x"] = {
      .hnd = true, .slice_elems = 64, .broadcast_dim = 0, .reversed_dim = 1};
  const std::string text = print_plan(plan);
  EXPECT_NE(text.find("x = { hnd = true, slice = 64, broadcast = 0, reversed = 1 }"),
            std::string::npos)
      << text;
  const auto parsed = parse_plan(text);
  ASSERT_TRUE(parsed) << parsed.error().message;
  EXPECT_EQ(*parsed, plan);
}

TEST(PlanText, ExactForm) {
  EXPECT_EQ(print_plan(testing::sample_plan()), R"(redzone_plan = 1
target = "sample"

[mode]
launch = "blocking"
allocator = "guard"
placement = "guard_before"
poison = "0x7fc00bad"
schedule_seed = 17

[[step]]
do = "call"
dims = { C = 8, D = 16, T = 32 }
config = { mode = "flat", num_warps = 8 }
layout = { x = { row_padding = 8, transposed = true, offset = 3, unit_stride = 0 } }
seed = 123456789012345
repeat = 3
stream = 1

[[step]]
do = "sync"

[[step]]
do = "wait"
stream = 0
on = 1

[[step]]
do = "call"
dims = { C = 8, D = 16, T = 32 }
config = { mode = "flat", num_warps = 8 }
seed = 123456789012345
)");
}

// Plan files that users keep, and texts in stores.
TEST(PlanText, WordsOfOlderPlansAreReadAndKeepTheHash) {
  Plan plan = testing::sample_plan();
  std::get<CallStep>(plan.steps[0]).call.layouts = {{"x", {.hnd = true}}};
  const std::string today = print_plan(plan), older = text_to_hash(plan);
  EXPECT_NE(today.find("placement = \"guard_before\""), std::string::npos) << today;
  EXPECT_NE(today.find("layout = { x = { hnd = true } }"), std::string::npos) << today;
  EXPECT_NE(older.find("placement = \"head\""), std::string::npos) << older;
  EXPECT_NE(older.find("layout = { x = { heads_first = true } }"), std::string::npos) << older;
  EXPECT_EQ(parse_plan(older).value(), plan);
  plan.mode.placement = Placement::guard_after;
  EXPECT_NE(text_to_hash(plan).find("placement = \"tail\""), std::string::npos);
  EXPECT_EQ(parse_plan(text_to_hash(plan)).value(), plan);
}

TEST(PlanText, GraphsHaveTheirForm) {
  Plan plan = testing::sample_plan();
  plan.steps = {CallStep{{{{"N", 1}}, {}, {}, 1}, 1, 2, 3}, ReplayStep{3, 1, 0},
                ReplayStep{3, 20, 1}};
  const std::string text = print_plan(plan);
  EXPECT_EQ(text.substr(text.find("\n[[step]]")), R"(
[[step]]
do = "call"
dims = { N = 1 }
seed = 1
stream = 2
graph = 3

[[step]]
do = "replay"
graph = 3

[[step]]
do = "replay"
graph = 3
repeat = 20
stream = 1
)");
  EXPECT_EQ(*parse_plan(text), plan);
}

TEST(PlanText, ThePoolsPolicyIsPrintedWhereItIsNotTheDrivers) {
  Plan plan = testing::sample_plan();
  for (const auto allocator : {Allocator::caching, Allocator::plain, Allocator::pool}) {
    plan.mode.allocator = allocator;
    EXPECT_EQ(print_plan(plan).find("pool ="), std::string::npos);
    EXPECT_EQ(*parse_plan(print_plan(plan)), plan);
  }
  const std::string hash = plan_hash(plan);
  plan.mode.pool = {false, true, false, 4096};
  EXPECT_NE(plan_hash(plan), hash);
  EXPECT_NE(print_plan(plan).find("pool = { allow_internal_dependencies = false, "
                                  "follow_event_dependencies = false, "
                                  "release_threshold_bytes = 4096 }\n"),
            std::string::npos)
      << print_plan(plan);
  const auto again = parse_plan(print_plan(plan));
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(*again, plan);
}

TEST(PlanText, APolicyNeedsAPool) {
  const auto with = [](std::string_view allocator, std::string_view pool) {
    return std::string(kHead) + "[mode]\nlaunch = \"async\"\nplacement = \"guard_after\"\n" +
           "poison = \"0x1\"\nallocator = \"" + std::string(allocator) +
           "\"\npool = " + std::string(pool) + "\n[[step]]\ndo = \"sync\"\n";
  };
  EXPECT_NE(parse_error(with("guard", "{}")).find("'pool' needs"), std::string::npos);
  EXPECT_NE(parse_error(with("pool", "{ follow = true }")).find("mode.pool.follow: unknown field"),
            std::string::npos);
  EXPECT_NE(parse_error(with("pool", "{ release_threshold_bytes = -1 }")).find("negative"),
            std::string::npos);
  EXPECT_EQ(parse_error(with("pool", "{ allow_opportunistic = false }")), "parsed");
}

TEST(PlanText, AnAlignmentIsPrintedOnlyWhereItIsNotAsPromised) {
  Plan plan = testing::sample_plan();
  EXPECT_EQ(print_plan(plan).find("alignment"), std::string::npos);
  std::set<std::string> hashes{plan_hash(plan)};
  for (const auto allocator : {Allocator::guard, Allocator::caching})
    for (const auto alignment : {Alignment::exact, Alignment::element, Alignment::mixed}) {
      plan.mode.allocator = allocator;
      plan.mode.alignment = alignment;
      const auto again = parse_plan(print_plan(plan));
      ASSERT_TRUE(again) << again.error().message;
      EXPECT_EQ(*again, plan);
      EXPECT_TRUE(hashes.insert(plan_hash(plan)).second) << name_of(alignment);
    }
}

// A setting is printed only where it is not the default, so that the hashes of older plans stay.
void expect_printed(const Plan& plan, const std::string& name, const std::string& value,
                    const std::string& usual) {
  const Plan before = testing::sample_plan();
  EXPECT_EQ(print_plan(before).find(name), std::string::npos);
  const std::string text = print_plan(plan), line = fmt::format("\n{} = \"{}\"\n", name, value);
  const auto at = text.find(line);
  ASSERT_NE(at, std::string::npos) << text;
  const auto again = parse_plan(text);
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(*again, plan);
  EXPECT_NE(plan_hash(plan), plan_hash(before));
  const auto with = [&](std::string_view other) {
    return std::string(text).replace(at, line.size(), fmt::format("\n{} = \"{}\"\n", name, other));
  };
  EXPECT_EQ(parse_plan(with(usual)), before);
  EXPECT_NE(parse_error(with("two")).find("'two'"), std::string::npos) << parse_error(with("two"));
}

TEST(PlanText, CallersArePrintedWhereEachStepHasItsOwn) {
  Plan plan = testing::sample_plan();
  plan.mode.callers = Callers::each;
  expect_printed(plan, "callers", "each", "one");
}

TEST(PlanText, TheStackIsPrintedWhereItIsFilled) {
  Plan plan = testing::sample_plan();
  plan.mode.stack = Stack::filled;
  expect_printed(plan, "stack", "filled", "as_left");
}

TEST(PlanText, AddressesArePrintedWhereTheyAreReused) {
  Plan plan = testing::sample_plan();
  plan.mode.addresses = Addresses::reused;
  expect_printed(plan, "addresses", "reused", "distinct");
}

TEST(PlanText, ANewAllocatorTakesAlongWhatOnlyTheOldOneHas) {
  const Mode pool = {.allocator = Allocator::pool, .pool = {false, false, false, 1}};
  EXPECT_EQ(with_allocator(pool, Allocator::pool), pool);
  EXPECT_EQ(with_allocator(pool, Allocator::guard), Mode{});
  const Mode exact = {.allocator = Allocator::caching, .alignment = Alignment::exact};
  EXPECT_EQ(with_allocator(exact, Allocator::guard), Mode{.alignment = Alignment::exact});
}

TEST(PlanText, IsWhatMessagesOfTestsShow) {
  const Plan plan = testing::sample_plan();
  EXPECT_EQ(::testing::PrintToString(plan), print_plan(plan));
  const std::string mode = ::testing::PrintToString(Mode{.callers = Callers::each});
  EXPECT_TRUE(mode.starts_with("[mode]\n")) << mode;
  EXPECT_NE(mode.find("callers = \"each\""), std::string::npos) << mode;
  EXPECT_EQ(::testing::PrintToString(Alignment::mixed), "mixed");
}

TEST(PlanText, HashIgnoresNothingButFormatting) {
  Plan plan = testing::sample_plan();
  const std::string hash = plan_hash(plan);
  EXPECT_EQ(hash.size(), 32u);
  EXPECT_EQ(plan_hash(*parse_plan("# a comment\n" + print_plan(plan))), hash);
  plan.mode.poison ^= 1;
  EXPECT_NE(plan_hash(plan), hash);
}

TEST(PlanText, ModeAndSeedHaveDefaults) {
  const auto plan = parse_plan(std::string(kHead) + "[[step]]\ndo = \"call\"\ndims = { N = 1 }\n");
  ASSERT_TRUE(plan) << plan.error().message;
  EXPECT_EQ(plan->mode, Mode{});
}

TEST(PlanText, ErrorsNameThePlaceAndTheRemedy) {
  EXPECT_EQ(parse_error("redzone_plan = 2\ntarget = \"t\"\n"),
            "f.toml:1:16: redzone_plan: plan version 2, this build reads version 1");
  EXPECT_EQ(parse_error("target = \"t\"\n"), "f.toml:1:1: redzone_plan: missing");
  EXPECT_NE(parse_error("redzone_plan = ").find("f.toml:1:"), std::string::npos);
  EXPECT_NE(parse_error(std::string("\x7f"
                                    "ELF\0\1\2",
                                    7))
                .find("not a plan"),
            std::string::npos);
  EXPECT_NE(parse_error(kHead).find("no [[step]]"), std::string::npos);
  EXPECT_NE(parse_error(std::string(kHead) + "[[step]]\ndo = \"cal\"\n").find("unknown step 'cal'"),
            std::string::npos);
  EXPECT_NE(parse_error(std::string(kHead) + "[[step]]\ndo = \"call\"\ndimms = {}\n")
                .find("did you mean 'dims'?"),
            std::string::npos);
  EXPECT_NE(parse_error(std::string(kHead) + "[mode]\nlaunch = \"sync\"\n")
                .find("blocking, async, gated"),
            std::string::npos);
  EXPECT_NE(parse_error(std::string(kHead) + "[[step]]\ndo = \"call\"\nrepeat = 0\n")
                .find("step[0].repeat: 0 is not in 1..4096"),
            std::string::npos);
  EXPECT_NE(parse_error(std::string(kHead) + "[[step]]\ndo = \"call\"\ndims = { N = \"x\" }\n")
                .find("step[0].dims.N: an integer is expected, not a string"),
            std::string::npos);
}

TEST(PlanText, EveryTruncationIsAnErrorOrAPlan) {
  const std::string text = print_plan(testing::sample_plan());
  for (std::size_t n = 0; n < text.size(); ++n)
    (void)parse_plan(std::string_view(text).substr(0, n));
}

TEST(PlanText, ASanitizerIsPrintedOnlyWhenThereIsOne) {
  Plan plan = testing::sample_plan();
  EXPECT_EQ(print_plan(plan).find("sanitizer"), std::string::npos);
  const std::string hash = plan_hash(plan);
  for (auto tool : {SanitizerTool::memcheck, SanitizerTool::racecheck, SanitizerTool::initcheck,
                    SanitizerTool::races, SanitizerTool::synccheck}) {
    plan.mode.sanitizer = tool;
    EXPECT_EQ(*parse_plan(print_plan(plan)), plan) << name_of(tool);
    EXPECT_NE(plan_hash(plan), hash);
  }
  std::string text = print_plan(plan);
  text.replace(text.find("synccheck"), 9, "lintcheck");
  const auto wrong = parse_plan(text);
  ASSERT_FALSE(wrong);
  EXPECT_NE(wrong.error().message.find("mode.sanitizer: 'lintcheck' is not one of none, memcheck"),
            std::string::npos)
      << wrong.error().message;
}

}  // namespace
}  // namespace redzone
