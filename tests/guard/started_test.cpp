#include "guard/started.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <algorithm>

#include "interpose/kept_variables.h"

namespace redzone::guard {
namespace {

using namespace std::string_literals;

bool has(const Started& started, const std::string& name) {
  return std::any_of(started.environment.begin(), started.environment.end(),
                     [&](const auto& variable) { return variable.name == name; });
}

TEST(StartedHere, HoldsNoVariableThatIsNotListed) {
  ::setenv("REDZONE_TEST_TOKEN", "a secret", 1);
  ::setenv("OMP_NUM_THREADS", "3", 1);
  ::setenv("LD_PRELOAD", "", 1);
  const std::vector<std::string> none, one{"REDZONE_TEST_TOKEN", "LD_PRELOAD"};
  const Started started = started_here({"train"}, none);
  EXPECT_FALSE(has(started, "REDZONE_TEST_TOKEN"));
  EXPECT_TRUE(has(started, "OMP_NUM_THREADS"));
  EXPECT_EQ(started.argv, std::vector<std::string>{"train"});
  EXPECT_TRUE(started.folder.starts_with('/'));
  EXPECT_TRUE(has(started_here({"train"}, one), "REDZONE_TEST_TOKEN")) << "asked for";
  EXPECT_FALSE(has(started_here({"train"}, one), "LD_PRELOAD")) << "never";
  ::unsetenv("LD_PRELOAD");
  ::unsetenv("REDZONE_TEST_TOKEN");
  ::unsetenv("OMP_NUM_THREADS");
  const Started unset = started_here({"train"}, one);
  EXPECT_EQ(unset.unset, std::vector<std::string>{"REDZONE_TEST_TOKEN"});
  const auto names = decisive_variables(unset);
  EXPECT_NE(std::find(names.begin(), names.end(), "REDZONE_TEST_TOKEN"), names.end());
}

TEST(KeptVariables, AreInOrderAndNoSecrets) {
  EXPECT_TRUE(
      std::is_sorted(std::begin(interpose::kKeptVariables), std::end(interpose::kKeptVariables)));
  for (const std::string_view name : interpose::kKeptVariables)
    for (const char* part : {"TOKEN", "KEY", "SECRET", "PASS", "CREDENTIAL", "AUTH"})
      EXPECT_EQ(name.find(part), std::string_view::npos) << name;
}

TEST(Started, VariablesThatAreSetTakeThePlaceOfOthers) {
  Started started{{"python3"}, "/x", {{"PYTHONPATH", "/old"}, {"TZ", "UTC"}}, {"TOKEN", "OTHER"}};
  const std::vector<EnvironmentVariable> more{{"PYTHONPATH", "/new"}, {"TOKEN", "1"}};
  set_variables(started, more);
  EXPECT_EQ(started.environment, (std::vector<EnvironmentVariable>{
                                     {"TZ", "UTC"}, {"PYTHONPATH", "/new"}, {"TOKEN", "1"}}));
  EXPECT_EQ(started.unset, (std::vector<std::string>{"OTHER"}));
}

TEST(StartedFile, IsReadBack) {
  const Started started = parse_started("/home/x\0OMP_NUM_THREADS=2\0TZ=\0\0python3\0\0-x\0"s);
  EXPECT_EQ(started.folder, "/home/x");
  ASSERT_EQ(started.environment.size(), 2u);
  EXPECT_EQ(started.environment[0], (EnvironmentVariable{"OMP_NUM_THREADS", "2"}));
  EXPECT_EQ(started.environment[1], (EnvironmentVariable{"TZ", ""}));
  EXPECT_EQ(started.argv, (std::vector<std::string>{"python3", "", "-x"}));
}

TEST(StartedFile, OfADamagedProcessHoldsNothingElse) {
  const Started started = parse_started("/x\0AWS_SECRET=1\0no variable\0TZ=UTC\0"s);
  ASSERT_EQ(started.environment.size(), 1u);
  EXPECT_EQ(started.environment[0].name, "TZ");
  EXPECT_TRUE(started.argv.empty());
  EXPECT_EQ(parse_started(""), Started());
  EXPECT_EQ(parse_started("/x").folder, "/x");
}

}  // namespace
}  // namespace redzone::guard
