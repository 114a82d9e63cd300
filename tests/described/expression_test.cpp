#include "described/expression.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <optional>

namespace redzone::described {
namespace {

const std::vector<std::string> kKnown{"M", "N", "grid_is_flat", "num_sms"};

tl::expected<std::int64_t, std::string> evaluate(const std::string& text) {
  const auto parsed = Expression::parse(text, kKnown);
  if (!parsed) return tl::unexpected(parsed.error());
  return parsed->value({{"M", 100}, {"N", 7}, {"grid_is_flat", 1}, {"num_sms", 132}});
}

TEST(Expression, MeansWhatTheExporterMeans) {
  const std::pair<const char*, std::int64_t> rows[] = {
      {"1", 1},
      {"M * N", 700},
      {"-M*N", -700},
      {"-M+N*-2", -114},
      {"2--3", 5},
      {"grid_is_flat ? M : N", 100},
      {"0 ? 2 : 0 ? 4 : 5", 5},
      {"1 ? 2 : 3 ? 4 : 5", 2},
      {"min(floordiv(num_sms, 2), M)", 66},
      {"max(1, 2, 3)", 3},
      {"cdiv(7, 2)", 4},
      {"cdiv(-7, 2)", -3},
      {"floordiv(7, 2)", 3},
      {"floordiv(-7, 2)", -4},
      {"floordiv(9007199254740991, 9007199254740992)", 0},
      {"next_power_of_2(0)", 1},
      {"next_power_of_2(128)", 128},
      {"next_power_of_2(129)", 256},
      {"M < N || N < M && 1", 1},
      {"M == 100", 1},
      {"M != 100", 0},
      {"M >= 101", 0},
      {"9007199254740992", std::int64_t{1} << 53},
      {"1 + 2 < 4", 1},
      {"M // N", 14},
      {"-M // N", -15},
      {"M % N", 2},
      {"-M % N", 5},
      {"M % -N", -5},
      {"M % 10 == 0 and N // 8 == 0", 1},
      {"M < N or not M < N", 1},
      {"not M == 100", 0},
      {"not (M < N) and not 0", 1},
      {"not (not M)", 1},
  };
  for (const auto& [text, value] : rows) {
    const auto got = evaluate(text);
    ASSERT_TRUE(got) << text << ": " << got.error();
    EXPECT_EQ(*got, value) << text;
  }
}

TEST(Expression, SaysWhatIsWrong) {
  const std::pair<const char*, const char*> rows[] = {
      {"", "is empty"},
      {"  ", "is empty"},
      {"Q", "unknown name 'Q'"},
      {"num_sm", "did you mean 'num_sms'?"},
      {"M / N", "write cdiv(a, b) or floordiv(a, b)"},
      {"M % (N - 7)", "divides by zero"},
      {"! M", "not allowed in an expression"},
      {"not", "is not an expression"},
      {"M and", "is not an expression"},
      {"M andN", "is not an expression"},
      {"M ^ 2", "not allowed in an expression"},
      {"M = 2", "not allowed in an expression"},
      {"1.5", "not allowed in an expression"},
      {"1e5", "'e' follows a number"},
      {"M, N", "more than one expression"},
      {"(M", "is not an expression"},
      {"M N", "is not an expression"},
      {"sin(M)", "is not an expression"},
      {"M ? N", "is not an expression"},
      {"min(M)", "calls min with fewer than two values"},
      {"cdiv(M)", "is not an expression"},
      {"floordiv(1, 0)", "divides by zero"},
      {"cdiv(M, N - 7)", "divides by zero"},
      {"9007199254740993", "beyond 2^53"},
      {"9007199254740992 + 1 - 1", "beyond 2^53"},
      {"M * 9007199254740992 - M * 9007199254740992", "beyond 2^53"},
      {"\"M\"", "not allowed in an expression"},
  };
  for (const auto& [text, problem] : rows) {
    const auto got = evaluate(text);
    ASSERT_FALSE(got) << text << " = " << *got;
    EXPECT_NE(got.error().find(problem), std::string::npos) << got.error();
  }
  EXPECT_FALSE(evaluate(std::string(3000, '(')));
  EXPECT_FALSE(Expression::parse("M", kKnown)->value({{"M", (std::int64_t{1} << 53) + 1}}));
  EXPECT_FALSE(Expression::parse("M", kKnown)->value({}));
}

TEST(Expression, NamesWhatItReads) {
  EXPECT_EQ(Expression::parse("N * M + N", kKnown)->names(), (std::vector<std::string>{"M", "N"}));
}

// A tree as text, and its value in 128 bits; no value if a step leaves the exact range.
struct Tree {
  std::string text;
  std::optional<__int128> value;
};

std::optional<__int128> within(std::optional<__int128> value) {
  if (!value || *value > kMostExact || *value < -kMostExact) return std::nullopt;
  return value;
}

Tree draw_tree(int depth) {
  if (depth == 0 || *rc::gen::inRange(0, 4) == 0) {
    const auto value = *rc::gen::inRange<std::int64_t>(0, *rc::gen::element(10, 1 << 20, 1 << 30));
    return {std::to_string(value), value};
  }
  const Tree a = draw_tree(depth - 1), b = draw_tree(depth - 1);
  const auto both = [&](auto f) -> std::optional<__int128> {
    if (!a.value || !b.value) return std::nullopt;
    return within(f(*a.value, *b.value));
  };
  const auto both_floored = [&](auto f) -> std::optional<__int128> {
    if (!a.value || !b.value || *b.value == 0) return std::nullopt;
    __int128 quotient = *a.value / *b.value;
    if (*a.value % *b.value != 0 && (*a.value < 0) != (*b.value < 0)) quotient -= 1;
    return f(*a.value, *b.value, quotient);
  };
  switch (*rc::gen::inRange(0, 7)) {
    case 0:
      return {"(" + a.text + " + " + b.text + ")", both([](auto x, auto y) { return x + y; })};
    case 1:
      return {"(" + a.text + " - " + b.text + ")", both([](auto x, auto y) { return x - y; })};
    case 2:
      return {"(" + a.text + " * " + b.text + ")", both([](auto x, auto y) { return x * y; })};
    case 3:
      return {"max(" + a.text + ", " + b.text + ")",
              both([](auto x, auto y) { return std::max(x, y); })};
    case 4:
      return {"(" + a.text + " % " + b.text + ")",
              both_floored([](auto x, auto y, auto quotient) { return x - quotient * y; })};
    case 5:
      return {"(" + a.text + " // " + b.text + ")",
              both_floored([](auto, auto, auto quotient) { return quotient; })};
    default:
      return {"floordiv(" + a.text + ", " + b.text + ")",
              both_floored([](auto, auto, auto quotient) { return quotient; })};
  }
}

TEST(ExpressionLaws, IsExactOrAnError) {
  EXPECT_TRUE(rc::check([] {
    const Tree tree = draw_tree(4);
    const auto got = evaluate(tree.text);
    RC_LOG() << tree.text;
    RC_ASSERT(got.has_value() == tree.value.has_value());
    if (got) RC_ASSERT(static_cast<__int128>(*got) == *tree.value);
  }));
}

TEST(ExpressionLaws, NoTextCrashes) {
  EXPECT_TRUE(rc::check([] {
    const auto text = *rc::gen::container<std::string>(
        rc::gen::elementOf(std::string("MN01 9+-*()<>=!&|?:,mincdvorta_/%^.\"'#")));
    (void)evaluate(text);
  }));
}

// Texts of the maximum length, each with one kind of nesting.
TEST(ExpressionLaws, NoNestingCrashes) {
  constexpr std::size_t kMost = 2000;
  for (const std::string open :
       {"(", "-", "-(", "1?", "1?(", "min(1,", "max(", "cdiv(1,", "1-(", "M<", "M&&", "not ",
        "not(", "M and ", "1%(", "1,", "1?1:", "next_power_of_2(-"}) {
    std::string deep;
    while (deep.size() + open.size() <= kMost) deep += open;
    (void)evaluate(deep);
    deep.resize(kMost / 2 / open.size() * open.size());
    deep += "1";
    std::string closed = deep;
    for (const char c : deep)
      if (c == '(') closed += ')';
    (void)evaluate(closed);
  }
  EXPECT_FALSE(evaluate(std::string(kMost + 1, '1')));
  EXPECT_FALSE(evaluate("1e999"));
}

}  // namespace
}  // namespace redzone::described
