// Text that is not in the golden files: other forms, and text that no tool would write.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "sanitizer/text_log.h"

namespace redzone::sanitizer {
namespace {

SanitizerRecord parsed(std::string_view head, std::vector<std::string> lines = {}) {
  return parse_record(head, lines);
}

TEST(Record, Kinds) {
  const auto kind = [](std::string_view head) { return parsed(head).kind; };
  EXPECT_EQ(kind("Invalid __global__ atomic of size 8 bytes"), "invalid-atomic");
  EXPECT_EQ(kind("Invalid __shared__ read of size 2 bytes"), "invalid-read");
  EXPECT_EQ(kind("Error: Potential WAR hazard detected at __shared__ 0x0 in block (1,2,3) :"),
            "race-war");
  EXPECT_EQ(kind("Use-before-alloc on allocation of size 8 bytes at 0x10"), "use-before-alloc");
  EXPECT_EQ(kind("Barrier error detected. Invalid arguments."), "barrier-error");
  EXPECT_EQ(kind("Program hit CUDA_ERROR_INVALID_VALUE (error 1) due to \"x\" on CUDA API call"),
            "api-error");
  EXPECT_EQ(kind("Something that the next version says"), "other");
  const auto misaligned =
      parsed("Invalid __global__ write of size 4 bytes", {"Access to 0x7f0001 is misaligned"});
  EXPECT_EQ(misaligned.kind, "misaligned-write");
  EXPECT_EQ(misaligned.access, Access::write);
  EXPECT_EQ(misaligned.address, 0x7f0001u);
}

TEST(Record, FunctionNames) {
  EXPECT_EQ(function_name("oob(int *, int)"), "oob");
  EXPECT_EQ(function_name("void scan<float, (int)4>(const T1 *, T1 *)"), "scan");
  EXPECT_EQ(function_name("void (anonymous namespace)::copy<int>(int *)"), "copy");
  EXPECT_EQ(function_name("redzone::a::fill(redzone::View)"), "fill");
  EXPECT_EQ(function_name("plain"), "plain");
  EXPECT_EQ(function_name("std::enable_if<(T1)>::type pick<float>(T1)"), "pick");
  EXPECT_EQ(function_name(""), "");
}

TEST(Record, NoLineInformation) {
  const auto r = parsed("Invalid __global__ read of size 16 bytes", {"at k(int *)+0x10"});
  EXPECT_EQ(r.kernel, "k");
  EXPECT_EQ(r.location, "");
}

TEST(LogText, WhatTheToolSaysOfItselfIsNoRecord) {
  TextLog log;
  log.append("========= COMPUTE-SANITIZER\n========= Warning: slow\n========= \n");
  EXPECT_TRUE(log.take(true).empty());
  EXPECT_EQ(log.problem(), "");
  log.append("========= Internal Sanitizer Error: out of memory\n========= \n");
  EXPECT_TRUE(log.take(true).empty());
  EXPECT_EQ(log.problem(), "Internal Sanitizer Error: out of memory");
}

TEST(LogText, ARefusalIsAProblem) {
  for (const char* head :
       {"Error: Target application terminated before first instrumented API call",
        "Device not supported. Please refer to the \"Supported Devices\" section",
        "Error: No attachable process found. compute-sanitizer timed-out."})
    EXPECT_EQ(classify(head), Block::problem) << head;
}

TEST(LogText, RubbishDoesNotBegin) {
  TextLog log;
  log.append("hello\n\xff\xfe ====\n=====\n");
  EXPECT_TRUE(log.take(true).empty());
  EXPECT_FALSE(log.began());
}

TEST(LogText, ALineWithoutEndIsCut) {
  TextLog log;
  log.append("========= COMPUTE-SANITIZER\n========= Odd ");
  for (int i = 0; i < 4096; ++i) log.append(std::string(1024, 'x'));
  log.append("\n========= \n");
  const auto records = log.take(false);
  ASSERT_EQ(records.size(), 1u);
  EXPECT_LE(records[0].text.size(), 5000u);
}

RC_GTEST_PROP(LogText, TakesAnyBytes, (const std::string& bytes)) {
  TextLog log;
  log.append("========= COMPUTE-SANITIZER\n");
  log.append(bytes);
  log.append("\n========= Invalid __global__ read of size 1 bytes\n========= \n");
  const auto records = log.take(true);
  RC_ASSERT(!records.empty());
  RC_ASSERT(records.back().kind == "invalid-read");
}

}  // namespace
}  // namespace redzone::sanitizer
