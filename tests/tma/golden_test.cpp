// Blocks from the reports of the named issues, with the expected diagnosis of each.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "report/tma.h"
#include "tma/explain.h"

namespace redzone::tma {
namespace {

std::string read(const std::string& name) {
  std::ifstream in(std::filesystem::path(GOLDEN_DIR) / (name + ".log"), std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

struct Golden {
  const char* file;  // owner/repository#number in the comment beside it
  std::size_t blocks;
  std::vector<Verdict> verdicts;    // without repetition
  std::vector<std::string> broken;  // "rule dim" of the first
  std::vector<std::string> says;    // anywhere in the text
  const char* verdict;              // of all blocks together
};

void PrintTo(const Golden& g, std::ostream* out) {
  *out << g.file;
}

constexpr auto kWrong = Verdict::wrong;
constexpr auto kClean = Verdict::clean;
constexpr auto kUnreadable = Verdict::unreadable;

std::vector<Golden> goldens() {
  return {
      // flashinfer-ai/flashinfer#2150
      {"flashinfer_2150",
       2,
       {kWrong, kWrong},
       {"stride-alignment 1"},
       {"globalStrides of dim 1 is 2 bytes; allowed: a multiple of 16 bytes",
        "Dim 1 has size 1, so this stride is never used", "DLPack", "for instance 256"},
       "wrong"},
      // Dao-AILab/flash-attention#1296, without its first lines
      {"flash_attention_1296",
       1,
       {kWrong},
       {"box-range 1"},
       {"boxDim of dim 1 is 384 elements; allowed: 1 to 256 elements", "its elements have 4 bytes",
        "the rank is missing and taken to be 4", "the base address is missing",
        "harmless values for what is not judged"},
       "wrong"},
      // NVIDIA/cutlass#947
      {"cutlass_947", 2, {Verdict::unexplained}, {}, {"base address is null", "error 1"}, "wrong"},
      // Soul-AILab/SoulX-FlashTalk#9
      {"flashtalk_9", 2, {kClean, kClean}, {}, {"error 999", "an earlier kernel failed"}, "clean"},
      // flashinfer-ai/flashinfer#1150
      {"flashinfer_1150", 1, {kClean}, {}, {"error 700", "an earlier kernel failed"}, "clean"},
      // vllm-project/vllm#13961
      {"vllm_13961", 2, {kClean, kClean}, {}, {"error 715", "an earlier kernel failed"}, "clean"},
      // sgl-project/sglang#13775
      {"sglang_13775",
       2,
       {kWrong, kWrong},
       {"stride-range 3"},
       {"Dim 3 has size 1, so this stride is never used", "for instance 384",
        "a 32-bit product leaves of 6442450944"},
       "wrong"},
      // flashinfer-ai/flashinfer#2232
      {"flashinfer_2232",
       1,
       {kWrong},
       {"stride-alignment 2"},
       {"Dim 2 has size 1, so this stride is never used", "for instance 128"},
       "wrong"},
      // flashinfer-ai/flashinfer#2274
      {"flashinfer_2274",
       1,
       {kClean},
       {},
       {"an illegal memory access", "an earlier kernel failed"},
       "clean"},
      // tile-ai/tilelang#2578, without its strides and corners
      {"tilelang_2578",
       1,
       {kWrong},
       {"swizzle-span 0"},
       {"256 bytes; allowed: 0 to 128 bytes", "Set channelsPerPixel to at most 64",
        "globalStrides is missing"},
       "wrong"},
      // An error that ScalingIntelligence/KernelBench keeps in a comment
      {"kernelbench",
       1,
       {kUnreadable},
       {},
       {"globalDim was printed as the address of the array"},
       "unreadable"},
      // NVIDIA/recsys-examples#86: several processes wrote at once
      {"recsys_86", 0, {}, {}, {}, "unreadable"},
  };
}

class Goldens : public ::testing::TestWithParam<Golden> {};

TEST_P(Goldens, AreAnswered) {
  const Golden& golden = GetParam();
  const std::string log = read(golden.file);
  ASSERT_FALSE(log.empty());
  const auto found = explain(log);
  const std::string text = report::explanation_text(found);
  SCOPED_TRACE(text);
  const auto json = nlohmann::json::parse(report::explanation_json(found));
  EXPECT_EQ(json["verdict"], golden.verdict);
  for (const auto& words : golden.says) EXPECT_NE(text.find(words), std::string::npos) << words;
  if (golden.blocks == 0) return;  // too damaged to count
  EXPECT_EQ(found.blocks, golden.blocks);
  ASSERT_EQ(found.diagnoses.size(), golden.verdicts.size());
  for (std::size_t i = 0; i < golden.verdicts.size(); ++i)
    EXPECT_EQ(found.diagnoses[i].verdict, golden.verdicts[i]);
  std::vector<std::string> broken;
  for (const auto& advice : json["descriptors"][0]["broken"])
    broken.push_back(advice["rule"].get<std::string>() + " " + advice["dim"].dump());
  EXPECT_EQ(broken, golden.broken);
}

INSTANTIATE_TEST_SUITE_P(Reports, Goldens, ::testing::ValuesIn(goldens()),
                         [](const auto& info) { return std::string(info.param.file); });

// The overflow of the report, but on a dim that is used instead of the degenerate one.
TEST(Explain, AnOverflowNamesWhatWasMeant) {
  std::string log = read("sglang_13775");
  for (std::size_t at = 0; (at = log.find("128 1 ", at)) != std::string::npos; ++at)
    if (log.compare(at - 7, 7, "131072 ") == 0) log.replace(at, 6, "128 2 ");
  const std::string text = report::explanation_text(explain(log));
  EXPECT_NE(text.find("what a 32-bit product leaves of the real stride"), std::string::npos)
      << text;
  EXPECT_NE(text.find("Compute it in 64 bits: 6442450944 bytes (3221225472 elements)"),
            std::string::npos)
      << text;
}

}  // namespace
}  // namespace redzone::tma
