// Fewer runs for properties that write several files in each run.
#pragma once

#include <gtest/gtest.h>
#include <stdlib.h>

#include <string>

namespace redzone::store::testing {

class FewRuns : public ::testing::Test {
 protected:
  void SetUp() override {
    const char* set = ::getenv("RC_PARAMS");
    before_ = set == nullptr ? "" : set;
    ::setenv("RC_PARAMS", (before_ + " max_success=8").c_str(), 1);
  }
  void TearDown() override { ::setenv("RC_PARAMS", before_.c_str(), 1); }

 private:
  std::string before_;
};

}  // namespace redzone::store::testing
