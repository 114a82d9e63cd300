// Extraction of blocks from logs: forms, damage, and arbitrary bytes.
#include "tma/block.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>

#include "report/tma.h"
#include "tests/tma/samples.h"
#include "tma/explain.h"

namespace redzone::tma {
namespace {

using Numbers = std::vector<std::uint64_t>;

std::vector<Block> blocks_of(std::string_view text) {
  std::vector<Block> out;
  find_blocks(text, [&](const Block& block) { out.push_back(block); });
  return out;
}

const std::string kBlock =
    "TMA Desc Addr:   0x7ffd054484c0\nformat         9\ndim            3\n"
    "gmem_address   0x7f4c49e08800\nglobalDim      (128,1,32,1,1)\n"
    "globalStrides  (2,2,256,0,0)\nboxDim         (64,128,1,1,1)\n"
    "elementStrides (1,1,1,1,1)\ninterleave     0\nswizzle        3\nl2Promotion    2\n"
    "oobFill        0\n";
const std::string kError = "Error: Failed to initialize the TMA descriptor 1\n";

void expect_the_block(const Block& block) {
  EXPECT_EQ(block[Field::type].value().numbers, (Numbers{9}));
  EXPECT_EQ(block[Field::rank].value().numbers, (Numbers{3}));
  EXPECT_EQ(block[Field::address].value().numbers, (Numbers{0x7f4c49e08800}));
  EXPECT_EQ(block[Field::dims].value().numbers, (Numbers{128, 1, 32, 1, 1}));
  EXPECT_EQ(block[Field::strides].value().numbers, (Numbers{2, 2, 256, 0, 0}));
  EXPECT_EQ(block[Field::box].value().numbers, (Numbers{64, 128, 1, 1, 1}));
  EXPECT_EQ(block[Field::element_strides].value().numbers, (Numbers{1, 1, 1, 1, 1}));
  EXPECT_EQ(block[Field::swizzle].value().numbers, (Numbers{3}));
  EXPECT_EQ(block[Field::promotion].value().numbers, (Numbers{2}));
  EXPECT_EQ(block[Field::fill].value().numbers, (Numbers{0}));
}

std::string replace_all(std::string text, const std::string& from, const std::string& to) {
  for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
    text.replace(at, from.size(), to);
  return text;
}

TEST(Block, AmongOtherLines) {
  const auto found =
      blocks_of("loading shards: 9/9\nformat of the checkpoint: 3\n" + kBlock + kError + "bye\n");
  ASSERT_EQ(found.size(), 1u);
  expect_the_block(found[0]);
  EXPECT_EQ(found[0].line, 3u);
  ASSERT_TRUE(found[0].outcome);
  EXPECT_EQ(found[0].outcome->code, 1);
}

TEST(Block, BehindPrefixesOfALog) {
  std::istringstream lines(kBlock + kError);
  std::string text;
  for (std::string line; std::getline(lines, line);)
    text += "(EngineCore_0 pid=4711) ERROR 12-17 10:11:12 [core.py:42] " + line + "\r\n";
  const auto found = blocks_of(text);
  ASSERT_EQ(found.size(), 1u);
  expect_the_block(found[0]);
  EXPECT_EQ(found[0].outcome.value().code, 1);
}

TEST(Block, OnOneLine) {
  const auto found = blocks_of(replace_all(kBlock, "\n", " "));
  ASSERT_EQ(found.size(), 1u);
  expect_the_block(found[0]);
}

TEST(Block, WithEscapedNewlines) {
  const auto found = blocks_of("'" + replace_all(kBlock + kError, "\n", "\\n") + "'");
  ASSERT_EQ(found.size(), 1u);
  expect_the_block(found[0]);
}

TEST(Block, WithBracketsAndNames) {
  auto text = replace_all(replace_all(replace_all(kBlock, "(", "["), ")", "]"), ",", ", ");
  text = replace_all(text, "swizzle        3", "swizzle        3 (CU_TENSOR_MAP_SWIZZLE_128B)");
  const auto found = blocks_of(text);
  ASSERT_EQ(found.size(), 1u);
  expect_the_block(found[0]);
}

TEST(Block, SeveralKeepTheirCodes) {
  const auto found = blocks_of(kBlock + kError + kBlock +
                               "Error: Failed to initialize the TMA descriptor 700\n" + kBlock);
  ASSERT_EQ(found.size(), 3u);
  EXPECT_EQ(found[0].outcome.value().code, 1);
  EXPECT_EQ(found[1].outcome.value().code, 700);
  EXPECT_FALSE(found[2].outcome);
}

// Alternates the lines of both, like two processes that print into one log.
std::string mixed(const std::string& a, const std::string& b) {
  std::istringstream left(a), right(b);
  std::string out;
  for (std::string x, y; std::getline(left, x) && std::getline(right, y);)
    out += x + "\n" + y + "\n";
  return out;
}

TEST(Block, OfEqualOnesThatAreMixedOneIsLeft) {
  const auto other = replace_all(replace_all(kBlock, "0x7ffd054484c0", "0x7ffd0544f000"),
                                 "0x7f4c49e08800", "0x7e4c49e08000");
  const auto found = blocks_of(mixed(kBlock + kError, other + kError));
  ASSERT_EQ(found.size(), 1u);
  expect_the_block(found[0]);
  EXPECT_EQ(found[0].outcome.value().code, 1);
  const auto said = explain(mixed(kBlock + kError, other + kError));
  ASSERT_EQ(said.diagnoses.size(), 1u);
  EXPECT_EQ(said.diagnoses[0].verdict, Verdict::wrong);
}

// It is unknown which dims belong to which strides.
TEST(Block, WhatIsMixedAndDiffersIsNotJudged) {
  const auto other =
      replace_all(replace_all(kBlock, "(128,1,32", "(128,4,8"), "(2,2,256", "(2,256,1024");
  const auto said = explain(mixed(kBlock + kError, other + kError));
  ASSERT_EQ(said.diagnoses.size(), 1u);
  const Diagnosis& one = said.diagnoses[0];
  EXPECT_EQ(one.verdict, Verdict::unreadable);
  EXPECT_TRUE(one.broken.empty());
  const auto says = [&](const char* text) {
    return std::any_of(one.not_judged.begin(), one.not_judged.end(),
                       [&](const std::string& line) { return line.find(text) == 0; });
  };
  EXPECT_TRUE(says("globalDim has several values: blocks that were printed at once are mixed"));
  EXPECT_TRUE(says("globalStrides has several values"));
  EXPECT_FALSE(says("boxDim has several values"));
}

TEST(Block, AReasonBeforeTheBlockIsOfThatBlock) {
  const std::string block =
      "Error: Failed to initialize the TMA descriptor due to invalid argument\n"
      "tmaFormat: 9 dim: 2 gmem: 0x7b4cc0000000\nShape: 64 16 1 7 8\nStride: 128 2 4 9\n"
      "tileShapes: 64 8 1 1 1\ntileStrides: 1 1 1 1 3\nswizzleType: 3\n";
  const auto found = blocks_of(block + block);
  ASSERT_EQ(found.size(), 2u);
  for (const auto& one : found) {
    EXPECT_EQ(one.outcome.value().words, "invalid argument");
    EXPECT_TRUE(one.strides_from_dim_1);
    EXPECT_EQ(one[Field::dims].value().numbers, (Numbers{64, 16, 1, 7, 8}));
  }
}

TEST(Block, ProseIsNoBlock) {
  EXPECT_TRUE(blocks_of("the format is 3\ndim 4\nShape: 3 4\nStride: 9\nswizzle 3\n").empty());
  EXPECT_TRUE(blocks_of("globalDim must be positive\nboxDim is too large\n").empty());
  EXPECT_TRUE(blocks_of("").empty());
}

TEST(Block, DamageIsSeen) {
  const auto state = [](const std::string& line) {
    const auto found = blocks_of("TMA Desc Addr: 0x10\n" + line + "\n");
    return found.empty() ? FieldValue::State::good : found[0][Field::dims].value().state;
  };
  for (const char* line :
       {"globalDim (128,1", "globalDim (128,,1)", "globalDim ()", "globalDim 0,1024(,,0256)",
        "globalDim (1)x", "globalDim (18446744073709551616)", "globalDim", "globalDim (0x)",
        "globalDim (-9223372036854775809)", "globalDim 1,"})
    EXPECT_EQ(state(line), FieldValue::State::damaged) << line;
  EXPECT_EQ(state("globalDim 0x7fc24e6b5e40"), FieldValue::State::pointer);
  EXPECT_EQ(state("globalDim (18446744073709551615, -9223372036854775808)"),
            FieldValue::State::good);
}

TEST(Block, LongListsAreCut) {
  std::string list = "(1";
  for (int i = 0; i < 100; ++i) list += ",1";
  const auto found = blocks_of("TMA Desc Addr: 0x10\nglobalDim " + list + ")\n");
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0][Field::dims].value().numbers.size(), kMaxNumbers);
}

TEST(Numbers, Strict) {
  EXPECT_EQ(parse_numbers("1,2,3").numbers, (Numbers{1, 2, 3}));
  EXPECT_EQ(parse_numbers("(0x10, -1)").numbers, (Numbers{16, ~std::uint64_t{0}}));
  EXPECT_EQ(parse_numbers("7").numbers, (Numbers{7}));
  for (const char* bad : {"", "x", "1,", "1 2x", "1..2", "1e3", "--1", "()"})
    EXPECT_EQ(parse_numbers(bad).state, FieldValue::State::damaged) << bad;
}

// Invariants for any log: every block gets a diagnosis, and both reports can be printed.
void explain_anything(const std::string& text) {
  const auto found = explain(text);
  std::size_t counted = found.left_out;
  for (const auto& d : found.diagnoses) {
    counted += d.times;
    RC_ASSERT((d.verdict == Verdict::wrong) == !d.broken.empty());
    if (d.verdict == Verdict::unreadable) RC_ASSERT(!d.not_judged.empty());
    for (const auto& a : d.broken) {
      RC_ASSERT(!a.where.empty());
      RC_ASSERT(!a.limit.empty());
      RC_ASSERT(!a.why.empty());
      RC_ASSERT(!a.change.empty());
    }
  }
  RC_ASSERT(counted == found.blocks);
  RC_ASSERT(!report::explanation_text(found).empty());
  RC_ASSERT(!report::explanation_json(found).empty());
}

RC_GTEST_PROP(Block, AnyBytesAreAnswered, (const std::string& text)) {
  explain_anything(text);
}

// Parts of blocks in any order, with numbers at the limits of their types and bytes between them.
RC_GTEST_PROP(Block, ShuffledPiecesAreAnswered, ()) {
  const auto piece = rc::gen::oneOf(
      rc::gen::element<std::string>(
          "TMA Desc Addr: 0x1", "format ", "dim ", "gmem_address ", "globalDim ", "globalStrides ",
          "boxDim ", "elementStrides ", "interleave ", "swizzle ", "l2Promotion ", "oobFill ",
          "Shape: ", "Stride: ", "tileShapes: ", "tmaFormat: ", "smem_box_pixel ",
          "smem_box_channel ", "pixelBoxLowerCorner ", "pixelBoxUpperCorner "),
      rc::gen::element<std::string>("\n", "\\n", "\r\n", " ", ",", "(", ")", "[", "]", ", ", "-",
                                    "0x", "Error: Failed to initialize the TMA descriptor ",
                                    "Failed to initialize the TMA descriptor due to "),
      rc::gen::element<std::string>(
          "0", "1", "2", "3", "5", "6", "16", "255", "256", "257", "4294967295", "4294967296",
          "4294967297", "1099511627776", "9223372036854775807", "-1", "18446744073709551615",
          "18446744073709551616", "(1,1,1,1,1)", "(2,2,256,0,0)", "(0,0,0,0,0)", "[128, 1]"),
      rc::gen::string<std::string>());
  std::string text;
  for (const auto& part : *rc::gen::container<std::vector<std::string>>(piece)) text += part;
  explain_anything(text);
}

// A real block in which bytes are removed, duplicated or changed.
RC_GTEST_PROP(Block, DamagedBlocksAreAnswered, ()) {
  std::string text = kBlock + kError + kBlock;
  const int edits = *rc::gen::inRange(0, 12);
  for (int i = 0; i < edits; ++i) {
    const auto at = *rc::gen::inRange<std::size_t>(0, text.size());
    const auto count = *rc::gen::inRange<std::size_t>(0, 40);
    switch (*rc::gen::inRange(0, 3)) {
      case 0:
        text.erase(at, count);
        break;
      case 1:
        text.insert(at, text.substr(at, count));
        break;
      default:
        text[at] = *rc::gen::arbitrary<char>();
    }
    if (text.empty()) break;
  }
  explain_anything(text);
}

TEST(Explain, AMapThatIsNotAlignedIsNoticed) {
  const auto notes = [](const std::string& text) { return explain(text).diagnoses.at(0).notes; };
  EXPECT_TRUE(notes(kBlock).empty());
  const auto seen = notes(replace_all(kBlock, "0x7ffd054484c0", "0x7ffd054484d0"));
  ASSERT_EQ(seen.size(), 1u);
  EXPECT_NE(seen[0].find("64-byte aligned"), std::string::npos) << seen[0];
}

TEST(Block, ManyAreCountedAndNotAllKept) {
  std::string text;
  for (int i = 0; i < 400; ++i)
    text += replace_all(kBlock, "0x7f4c49e08800", std::to_string(16 * (i + 1))) + kError;
  const auto found = explain(text);
  EXPECT_EQ(found.blocks, 400u);
  EXPECT_EQ(found.diagnoses.size(), kMaxDiagnoses);
  EXPECT_EQ(found.left_out, 400u - kMaxDiagnoses);
}

}  // namespace
}  // namespace redzone::tma
