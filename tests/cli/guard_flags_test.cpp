#include "cli/guard_flags.h"

#include <gtest/gtest.h>

#include <cstring>
#include <limits>
#include <sstream>

namespace redzone::cli {
namespace {

Result<interpose::Settings> read(const std::string& words) {
  po::options_description flags;
  add_guard_settings_flags(flags);
  std::istringstream in(words);
  std::vector<std::string> arguments;
  for (std::string word; in >> word;) arguments.push_back(word);
  po::variables_map values;
  po::store(po::command_line_parser(arguments).options(flags).run(), values);
  return guard_settings(values);
}

TEST(WordsOfGuardSettings, YieldTheSettings) {
  interpose::Settings all;
  all.cpu = true;
  all.placement = interpose::Placement::guard_before;
  all.retire = interpose::Retire::all;
  all.poison = 0x17;
  all.align_bytes = 64;
  all.max_memory_bytes = std::uint64_t{3} << 20;
  all.min_bytes = 7;
  all.only = {2, 9};
  all.skip = {5, 5};
  all.launch = interpose::LaunchMode::held;
  all.seed = std::numeric_limits<std::int64_t>::max();
  all.check = interpose::Check::each_launch;
  all.on_error = interpose::OnError::go_on;
  all.python = false;
  std::strcpy(all.kernels, "fill_scale");
  interpose::Settings none = all;
  none.poison = -1;
  for (const auto& settings : {interpose::Settings(), all, none})
    EXPECT_EQ(read(words_of(settings)), settings) << words_of(settings);
  EXPECT_EQ(words_of({}), "");
  std::strcpy(none.kernels, "^it's|x");
  EXPECT_NE(words_of(none).find(R"(--kernels '^it'\''s|x')"), std::string::npos) << words_of(none);
}

TEST(GuardKernels, AreARegularExpressionForWhatIsDoneAtEachLaunch) {
  EXPECT_TRUE(read("--launch blocking --kernels fill"));
  EXPECT_TRUE(read("--launch held --kernels ^_Z4fill"));
  EXPECT_TRUE(read("--check each-launch --kernels a|b"));
  EXPECT_FALSE(read("--kernels fill")) << "it would change nothing";
  EXPECT_FALSE(read("--launch blocking --kernels fill("));
  EXPECT_FALSE(read("--launch blocking --kernels " + std::string(interpose::kPatternBytes, 'x')));
  EXPECT_TRUE(
      read("--launch blocking --kernels " + std::string(interpose::kPatternBytes - 1, 'x')));
}

TEST(GuardBlocks, AreANumberOrARange) {
  EXPECT_EQ(parse_blocks("7", "only"), (interpose::BlockRange{7, 7}));
  EXPECT_EQ(parse_blocks("7-90", "only"), (interpose::BlockRange{7, 90}));
  for (const char* wrong : {"", "0", "7-", "-7", "9-7", "7-9-11", "x", "7x", "1-x",
                            "99999999999999999999", "1-9223372036854775807"})
    EXPECT_FALSE(parse_blocks(wrong, "only")) << wrong;
}

}  // namespace
}  // namespace redzone::cli
