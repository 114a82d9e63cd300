// Names of faults after exceptions.
#include "trial/thrown.h"

#include <gtest/gtest.h>

#include <exception>
#include <new>
#include <stdexcept>
#include <string>
#include <utility>

namespace redzone::trial {
namespace {

struct NoPlan : std::logic_error {
  using std::logic_error::logic_error;
};

template <class E>
Thrown thrown_by(E e) {
  try {
    throw e;
  } catch (...) {
    return thrown_now();
  }
}

std::string code_for(const std::string& text) {
  const std::string code = thrown_by(std::runtime_error(text)).code;
  const std::string before = "exception: std::runtime_error";
  EXPECT_EQ(code.substr(0, before.size()), before);
  return code.substr(before.size());
}

TEST(Thrown, HasTheTypeAndTheTextOfTheException) {
  const Thrown thrown = thrown_by(NoPlan("no plan for M = 17"));
  EXPECT_EQ(thrown.code,
            "exception: redzone::trial::(anonymous namespace)::NoPlan: no plan for M = #");
  EXPECT_EQ(thrown.text, "no plan for M = 17");
}

TEST(Thrown, WhatDependsOnTheCallIsNotPartOfTheName) {
  EXPECT_EQ(code_for("size 12 at 0x7f20ab, not 3.5."), ": size # at #, not #.");
  const std::pair<const char*, const char*> same[] = {
      {"eps 1e-05", "eps 0.5"},        {"eps 1e+30", "eps 2"},
      {"stride -1", "stride 1"},       {"1,024 rows", "512 rows"},
      {"shape [2, 3]", "shape [4]"},   {"tile 128x64", "tile 16"},
      {"at 7f20ab12", "at 0x10"},      {"open '/tmp/a_X7'", "open '/tmp/b/c'"},
      {"fp16: size 7", "fp8: size 9"},
  };
  for (const auto& [a, b] : same) EXPECT_EQ(code_for(a), code_for(b)) << a;
  EXPECT_NE(code_for("bad size 3"), code_for("bad stride 3"));
}

TEST(Thrown, TheNameIsTheBeginningOfTheFirstLine) {
  EXPECT_EQ(code_for("first\tpart\nsecond part"), ": first part");
  EXPECT_EQ(code_for(std::string(1000, 'x')), ": " + std::string(100, 'x'));
  // What is cut off does not depend on how long the numbers are.
  EXPECT_EQ(code_for("123456789 " + std::string(1000, 'x')),
            code_for("1 " + std::string(1000, 'x')));
  // No character is cut in two, and what is no text does not stay.
  EXPECT_EQ(code_for(std::string(99, 'x') + "\xc3\xa9"), ": " + std::string(99, 'x'));
  EXPECT_EQ(code_for("a\xff"), ": a\xef\xbf\xbd");
  EXPECT_EQ(code_for(""), "");
}

template <class... Types>
struct Nested {};

TEST(Thrown, ALongTypeIsCut) {
  using Four = Nested<NoPlan, NoPlan, NoPlan, NoPlan>;
  const std::string code = thrown_by(Nested<Four, Four, Four, Four>()).code;
  EXPECT_LT(code.size(), 150u);
  EXPECT_TRUE(code.starts_with("exception: redzone::trial::(anonymous namespace)::Nested<"));
}

TEST(Thrown, WhatComesUpAnywhereHasNoText) {
  EXPECT_EQ(thrown_by(std::bad_alloc()).code, "exception: std::bad_alloc");
}

TEST(Thrown, KeepsTheCodeOfAnotherLanguage) {
  const Thrown thrown =
      thrown_by(CodedError("exception: ValueError in f: x = y", "my.py:3: bad 3"));
  EXPECT_EQ(thrown.code, "exception: ValueError in f: x = y");
  EXPECT_EQ(thrown.text, "my.py:3: bad 3");
}

struct Silent : std::exception {
  const char* what() const noexcept override { return nullptr; }
};

TEST(Thrown, NeedsNoText) {
  const Thrown thrown = thrown_by(Silent());
  EXPECT_EQ(thrown.code, "exception: redzone::trial::(anonymous namespace)::Silent");
  EXPECT_EQ(thrown.text, "");
}

TEST(Thrown, NeedsNoStandardException) {
  EXPECT_EQ(thrown_by(7).code, "exception: int");
  EXPECT_EQ(thrown_by(7).text, "");
  EXPECT_EQ(thrown_by("no plan").code, "exception: char const*: no plan");
  EXPECT_EQ(thrown_by(std::string("no plan")).text, "no plan");
}

}  // namespace
}  // namespace redzone::trial
