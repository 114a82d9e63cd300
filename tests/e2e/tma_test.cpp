// `redzone tma` on the command line.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <array>
#include <cstdio>

#include "e2e/cli.h"

namespace redzone::e2e {
namespace {

const std::string kOneToken =
    "TMA Desc Addr:   0x7ffd054484c0\nformat         9\ndim            3\n"
    "gmem_address   0x7f4c49e08800\nglobalDim      (128,1,32,1,1)\n"
    "globalStrides  (2,2,256,0,0)\nboxDim         (64,128,1,1,1)\n"
    "elementStrides (1,1,1,1,1)\ninterleave     0\nswizzle        3\nl2Promotion    2\n"
    "oobFill        0\nError: Failed to initialize the TMA descriptor 1\n";

Arguments flags(const std::string& stride) {
  return {"tma",      "explain",       "--format", "bf16",     "--dim",     "128,1,32",
          "--stride", stride + ",256", "--box",    "64,128,1", "--swizzle", "128B"};
}

TEST(Tma, ALogWithTheBlockOfOneToken) {
  const TempFolder folder;
  const auto ran = redzone(folder, {"tma", "explain", folder.write("a.log", kOneToken)});
  EXPECT_EQ(ran.exit, 1) << ran;
  EXPECT_NE(ran.out.find("globalStrides of dim 1 is 2 bytes"), std::string::npos) << ran;
  EXPECT_NE(ran.out.find("Dim 1 has size 1"), std::string::npos) << ran;
}

TEST(Tma, StandardInput) {
  const TempFolder folder;
  const std::string command = fmt::format("'{}' tma explain --json - < '{}'", REDZONE_BINARY_PATH,
                                          folder.write("a.log", kOneToken));
  FILE* pipe = popen(command.c_str(), "r");
  ASSERT_NE(pipe, nullptr);
  std::string out;
  std::array<char, 4096> part;
  std::size_t n = 0;
  do {
    n = fread(part.data(), 1, part.size(), pipe);
    out.append(part.data(), n);
  } while (n > 0);
  const int status = pclose(pipe);
  EXPECT_EQ(WEXITSTATUS(status), 1);
  const Json json = Json::parse(out, nullptr, false);
  ASSERT_FALSE(json.is_discarded()) << out;
  EXPECT_EQ(json["verdict"], "wrong");
  EXPECT_EQ(json["descriptors"][0]["broken"][0]["rule"], "stride-alignment");
  EXPECT_EQ(json["descriptors"][0]["broken"][0]["degenerate"], true);
  EXPECT_EQ(json["descriptors"][0]["descriptor"]["strides"], Json({2, 256}));
}

TEST(Tma, Flags) {
  const TempFolder folder;
  const auto wrong = redzone(folder, flags("2"));
  EXPECT_EQ(wrong.exit, 1) << wrong;
  EXPECT_NE(wrong.out.find("Dim 1 has size 1"), std::string::npos) << wrong;
  const auto right = redzone(folder, flags("256"));
  EXPECT_EQ(right.exit, 0) << right;
  EXPECT_NE(right.out.find("no rule is broken"), std::string::npos) << right;
}

TEST(Tma, ANumberThatIsNoneIsNamed) {
  const TempFolder folder;
  const auto explain = [&](const std::string& flag, const std::string& value) {
    return redzone(folder, {"tma", "explain", "--format", "bf16", "--dim", "64,64", "--stride",
                            "128", "--box", "64,64", flag, value});
  };
  for (const auto& [flag, value] : {std::pair{"--address", "-1"}, {"--element-stride", "-1,1"}}) {
    const auto negative = explain(flag, value);
    EXPECT_EQ(negative.exit, 2) << negative;
    EXPECT_NE(negative.err.find(fmt::format("{}: '{}': no number may be negative", flag, value)),
              std::string::npos)
        << negative;
  }
  const auto large = explain("--element-stride", "99999999999999999999");
  EXPECT_EQ(large.exit, 2) << large;
  EXPECT_NE(large.err.find("--element-stride: '99999999999999999999': numbers expected"),
            std::string::npos)
      << large;
}

TEST(Tma, ALogWithoutABlockIsUnreadable) {
  const TempFolder folder;
  const auto ran = redzone(folder, {"tma", "explain", folder.write("a.log", "all is well\n")});
  EXPECT_EQ(ran.exit, 2) << ran;
  EXPECT_NE(ran.out.find("no descriptor found"), std::string::npos) << ran;
}

// With a driver it compares; without one it reports that it cannot.
TEST(Tma, AgreeNeedsADriver) {
  const TempFolder folder;
  const auto ran = redzone(folder, {"tma", "agree", "--count", "1000", "--json"});
  if (ran.exit == 4)
    EXPECT_NE(ran.err.find("not judged: "), std::string::npos) << ran;
  else
    EXPECT_EQ(ran.json()["descriptors"], 1000) << ran;
}

TEST(Tma, UsageErrorsNameTheFlag) {
  const TempFolder folder;
  const std::pair<Arguments, const char*> bad[] = {
      {{"tma"}, "explain"},
      {{"tma", "explan"}, "explan"},
      {{"tma", "explain", "no-such.log"}, "no-such.log"},
      {{"tma", "agree", "--count", "0"}, "--count"},
      {{"tma", "agree", "a.log"}, "its own descriptors"},
      {{"tma", "agree", "--dim", "1"}, "its own descriptors"},
      {{"tma", "explain", "--dim", "1"}, "--format"},
      {{"tma", "explain", "--format", "bf17", "--dim", "64", "--box", "64"}, "--format"},
      {{"tma", "explain", "--format", "bf16", "--dim", "64,x", "--box", "64"}, "--dim"},
      {{"tma", "explain", "--format", "bf16", "--dim", "64,2", "--box", "64,2"}, "--stride"},
      {{"tma", "explain", "--format", "bf16", "--dim", "64", "--box", "4294967296"}, "--box"},
      {{"tma", "explain", "--format", "bf16", "--dim", "64", "--box", "64", "--channels", "4"},
       "--box"},
  };
  for (const auto& [arguments, says] : bad) {
    const auto ran = redzone(folder, arguments);
    EXPECT_EQ(ran.exit, 2) << ran;
    EXPECT_NE(ran.err.find(says), std::string::npos) << ran;
  }
}

}  // namespace
}  // namespace redzone::e2e
