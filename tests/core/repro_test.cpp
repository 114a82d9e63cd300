#include "core/repro.h"

#include <gtest/gtest.h>

#include "core/sample.h"

namespace redzone {
namespace {

Repro sample_repro() {
  Repro r;
  r.plan = testing::sample_plan();
  r.oracle = "fault";
  r.signature = Signature{FailKind::illegal_access, "sample", "scan", "k", "after", ""};
  return r;
}

TEST(Repro, RoundTripsWithAndWithoutAnExpectation) {
  const Repro repro = sample_repro();
  const auto again = parse_repro(print_repro(repro, "one\n\nthree"));
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(*again, repro);
  const Repro plain{.plan = testing::sample_plan()};
  EXPECT_EQ(*parse_repro(print_repro(plain)), plain);
}

TEST(Repro, TheTableStandsBeforeTheSteps) {
  const std::string text = print_repro(sample_repro(), "why");
  EXPECT_EQ(text.find("# why\n\nredzone_plan = 1\n"), 0u);
  EXPECT_NE(
      text.find("schedule_seed = 17\n\n[expect]\noracle = \"fault\"\nkind = \"illegal-access\"\n"
                "where = \"scan\"\nbuffer = \"k\"\nside = \"after\"\n\n[[step]]\n"),
      std::string::npos)
      << text;
}

TEST(Repro, SaysHowOftenItFailed) {
  Repro repro = sample_repro();
  EXPECT_EQ(repro.rate(), (Reliability{1, 1})) << "seen once, and not measured";
  repro.failed = Reliability{3, 40};
  EXPECT_EQ(repro.rate(), (Reliability{3, 40}));
  const std::string text = print_repro(repro);
  EXPECT_NE(text.find("\nfailed = [3, 40]\n"), std::string::npos) << text;
  EXPECT_EQ(*parse_repro(text), repro);
  EXPECT_EQ(Repro{}.rate(), Reliability{}) << "nothing is expected";
  for (const char* wrong : {"[0, 40]", "[41, 40]", "[-1, 40]", "[3]", "[3, 40, 1]", "[]", "3",
                            "[\"3\", 40]", "[1, 1000001]", "[0, 0]", "[1.5, 2]"}) {
    std::string changed = text;
    changed.replace(changed.find("[3, 40]"), 7, wrong);
    const auto r = parse_repro(changed, "f");
    ASSERT_FALSE(r) << wrong;
    EXPECT_NE(r.error().message.find("expect.failed"), std::string::npos) << r.error().message;
  }
}

TEST(Repro, ATextThatNoStoreTakesIsRefused) {
  Repro repro = sample_repro();
  repro.signature->where = std::string(std::size_t{1} << 20, 'x');
  EXPECT_TRUE(parse_repro(print_repro(repro), "f"));
  repro.signature->where += 'x';
  const auto refused = parse_repro(print_repro(repro), "f");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::usage);
  const std::string says = "expect.where: 1048577 bytes, at most 1048576 are possible";
  EXPECT_NE(refused.error().message.find(says), std::string::npos) << refused.error().message;
}

TEST(Repro, MistakesAreNamed) {
  const std::string good = print_repro(sample_repro());
  const auto error_with = [&](std::string from, std::string to) {
    std::string text = good;
    text.replace(text.find(from), from.size(), to);
    const auto r = parse_repro(text, "f");
    return r ? "parsed" : r.error().message;
  };
  EXPECT_NE(error_with("illegal-access", "illegal")
                .find("expect.kind: 'illegal' is not one of launch-config, "),
            std::string::npos);
  EXPECT_NE(error_with("oracle = \"fault\"", "").find("expect.oracle: missing"), std::string::npos);
  EXPECT_NE(error_with("side", "sides").find("expect.sides: unknown field, did you mean 'side'?"),
            std::string::npos);
  EXPECT_NE(error_with("\"after\"", "3").find("expect.side: a string is expected, not an integer"),
            std::string::npos);
}

// A comment may contain any text that a target printed.
TEST(Repro, AnyCommentCanBeReadAgain) {
  const Repro repro = sample_repro();
  for (const std::string& comment :
       {std::string("\x1b[2J\r and \x01\x7f"), std::string("a\0b", 3), std::string("\xff\xfe"),
        std::string("\xc2\x9b"), std::string("a\rtarget = 1\x0b\x0c")}) {
    const auto again = parse_repro(print_repro(repro, comment));
    ASSERT_TRUE(again) << again.error().message;
    EXPECT_EQ(*again, repro);
  }
}

TEST(Repro, AnyNameOfABufferCanBeReadAgain) {
  Repro repro = sample_repro();
  repro.signature->where = "k\x1b\n\"\\";
  EXPECT_EQ(*parse_repro(print_repro(repro)), repro);
  repro.signature->where = "k\xff";
  const auto again = parse_repro(print_repro(repro));
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(again->signature->where, "k\xef\xbf\xbd");
}

TEST(Signature, TextAndHash) {
  const Signature s{FailKind::illegal_access, "t", "scan", "k", "after", "read"};
  EXPECT_EQ(s.text(), "illegal-access: read after k in scan (t)");
  Signature other = s;
  EXPECT_EQ(other.hash(), s.hash());
  other.side = "before";
  EXPECT_NE(other.hash(), s.hash());
  EXPECT_EQ((Signature{FailKind::hang, "t", "", "", "", ""}).text(), "hang (t)");
}

}  // namespace
}  // namespace redzone
