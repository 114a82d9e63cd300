// Names of faults after exceptions.
#include "trial/thrown.h"

#include <gtest/gtest.h>

#include <new>
#include <stdexcept>
#include <string>

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

TEST(Thrown, NumbersAreNotPartOfTheName) {
  EXPECT_EQ(code_for("size 12 at 0x7f20ab, not 3.5."), ": size # at #, not #.");
  EXPECT_EQ(code_for("fp16 and bad 1e-05"), ": fp# and bad #-#");
  EXPECT_EQ(code_for("12"), ": #");
  EXPECT_EQ(code_for("1."), ": #.");
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

TEST(Thrown, WhatComesUpAnywhereHasNoText) {
  EXPECT_EQ(thrown_by(std::bad_alloc()).code, "exception: std::bad_alloc");
}

TEST(Thrown, KeepsTheCodeOfAnotherLanguage) {
  const Thrown thrown =
      thrown_by(CodedError("exception: ValueError in f: x = y", "my.py:3: bad 3"));
  EXPECT_EQ(thrown.code, "exception: ValueError in f: x = y");
  EXPECT_EQ(thrown.text, "my.py:3: bad 3");
}

TEST(Thrown, NeedsNoStandardException) {
  EXPECT_EQ(thrown_by(7).code, "exception: int");
  EXPECT_EQ(thrown_by("text").code, "exception: char const*");
}

}  // namespace
}  // namespace redzone::trial
