// Fixed variants, controls and the shipped kernels are correct: no campaign may flag them.
#include <gtest/gtest.h>

#include <algorithm>

#include "e2e/cli.h"

namespace redzone::e2e {
namespace {

constexpr std::size_t kPlans = 2000;
// On a busy machine a worker may get no processor time for seconds; that must not look like a hang.
constexpr const char* kDeadline = "60s";

std::vector<std::string> correct_targets() {
  const TempFolder folder;
  std::vector<std::string> names;
  const Json all = redzone(folder, {"targets", "--json"}).json();
  for (const auto& target : all.value("targets", Json::array())) {
    const bool on_host = std::any_of(target["devices"].begin(), target["devices"].end(),
                                     [](const Json& d) { return d["device"] == "host"; });
    if (on_host && (target["category"] == "kernel" || target["category"] == "twin"))
      names.push_back(target["name"]);
  }
  return names;
}

class Correct : public testing::TestWithParam<std::string> {
 protected:
  const TempFolder folder_;
};

TEST_P(Correct, NoCampaignFlagsIt) {
  const Ran ran = redzone(folder_, {"run", GetParam(), "--device", "host", "--seed", "3", "--plans",
                                    std::to_string(kPlans), "--deadline", kDeadline, "--json"});
  EXPECT_EQ(ran.exit, 0) << ran;
  const Json campaign = ran.json();
  ASSERT_TRUE(campaign.is_object()) << ran;
  EXPECT_EQ(passed_or_empty(campaign), kPlans) << ran;
  EXPECT_EQ(campaign["suspects"], 0) << ran;
  EXPECT_TRUE(campaign["findings"].empty()) << ran;
  EXPECT_EQ(campaign["campaign"]["workers_lost"], 0) << ran;
}

// More than 5,000 in each mode over all targets.
constexpr std::size_t kPlansPerMode = 100;

// All correct targets in one campaign for each pair of launch mode and allocator.
class EveryMode : public testing::TestWithParam<std::tuple<const char*, const char*>> {};

TEST_P(EveryMode, LeavesCorrectTargetsAlone) {
  const auto [launch, allocator] = GetParam();
  const TempFolder folder;
  const auto names = correct_targets();
  std::vector<std::string> arguments = {"run"};
  arguments.insert(arguments.end(), names.begin(), names.end());
  for (const char* more : {"--launch", launch, "--allocator", allocator, "--device", "host",
                           "--seed", "4", "--deadline", kDeadline, "--json", "--plans"})
    arguments.emplace_back(more);
  arguments.push_back(std::to_string(kPlansPerMode));
  const Ran ran = redzone(folder, arguments);
  EXPECT_EQ(ran.exit, 0) << ran;
  const Json campaign = ran.json();
  ASSERT_TRUE(campaign.is_object()) << ran;
  EXPECT_EQ(passed_or_empty(campaign), kPlansPerMode * names.size()) << ran;
  EXPECT_TRUE(campaign["findings"].empty()) << ran;
}

// Campaigns with drawn modes (blocked launches, mostly the guard allocator) are in
// NoCampaignFlagsIt.
INSTANTIATE_TEST_SUITE_P(Host, EveryMode,
                         testing::Combine(testing::Values("blocking", "async", "gated"),
                                          testing::Values("guard", "caching", "pool", "plain")),
                         [](const auto& info) {
                           return std::string(std::get<0>(info.param)) + "_" +
                                  std::get<1>(info.param);
                         });

INSTANTIATE_TEST_SUITE_P(Shipped, Correct, testing::ValuesIn(correct_targets()),
                         [](const auto& info) {
                           std::string name = info.param;
                           for (char& c : name)
                             if (c == '.') c = '_';
                           return name;
                         });

TEST(CorrectTargets, AreAllThere) {
  EXPECT_GE(correct_targets().size(), 4u + 15u + 2u);
}

}  // namespace
}  // namespace redzone::e2e
