#include "guard/framework.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <map>

#include "core/temporary_folder.h"

namespace redzone::guard {
namespace {

constexpr const char* kTorch = "PYTORCH_NO_CUDA_MEMORY_CACHING";
constexpr const char* kJax = "XLA_PYTHON_CLIENT_ALLOCATOR";

class Frameworks : public testing::Test {
 protected:
  void SetUp() override {
    ::unsetenv(kTorch);
    ::unsetenv(kJax);
  }
  void TearDown() override { SetUp(); }
  static std::map<std::string, std::string> set_for(Framework framework, const std::string& path) {
    const auto prepared = prepare(framework, path);
    return {prepared.environment.begin(), prepared.environment.end()};
  }
};

TEST_F(Frameworks, APythonProgramIsPreparedForAll) {
  const auto set = set_for(Framework::automatic, "/usr/bin/python3.12");
  EXPECT_EQ(set.at(kTorch), "1");
  EXPECT_EQ(set.at(kJax), "platform");
  const auto folder = TemporaryFolder::create("framework-test");
  for (const char* line : {"#!/usr/bin/python3\n", "#!/usr/bin/env python3\n"}) {
    const auto script = folder->path() / "torchrun";
    std::ofstream(script) << line;
    EXPECT_EQ(set_for(Framework::automatic, script.string()).size(), 2u) << line;
  }
}

TEST_F(Frameworks, OthersOnlyIfAskedFor) {
  EXPECT_TRUE(prepare(Framework::automatic, "/bin/sh").environment.empty());
  EXPECT_EQ(prepare(Framework::automatic, "/bin/sh").note, "");
  EXPECT_TRUE(prepare(Framework::none, "/usr/bin/python3").environment.empty());
  EXPECT_EQ(set_for(Framework::torch_nocache, "/bin/sh").count(kTorch), 1u);
  EXPECT_EQ(set_for(Framework::torch_nocache, "/bin/sh").count(kJax), 0u);
  EXPECT_EQ(set_for(Framework::jax_platform, "/bin/sh").count(kJax), 1u);
}

TEST_F(Frameworks, WhatTheEnvironmentHasIsKept) {
  ::setenv(kTorch, "0", 1);
  const auto prepared = prepare(Framework::automatic, "/usr/bin/python3");
  ASSERT_EQ(prepared.environment.size(), 1u);
  EXPECT_EQ(prepared.environment[0].first, kJax);
  EXPECT_NE(prepared.note.find("PYTORCH_NO_CUDA_MEMORY_CACHING is 0"), std::string::npos);
}

// The environment alone says nothing of the program.
TEST_F(Frameworks, NotesSayWhatIsSet) {
  EXPECT_EQ(prepare(Framework::automatic, "/usr/bin/python3").note,
            "PYTORCH_NO_CUDA_MEMORY_CACHING=1 is set; XLA_PYTHON_CLIENT_ALLOCATOR=platform is set");
  EXPECT_EQ(torch_note(Framework::torch_nocache).find("PyTorch without its caching allocator"), 0u);
  EXPECT_NE(torch_note(Framework::none).find("--framework torch-nocache"), std::string::npos);
}

}  // namespace
}  // namespace redzone::guard
