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
constexpr const char* kPath = "PYTHONPATH";
constexpr const char* kHooks = "REDZONE_GUARD_FRAMEWORKS";

class Frameworks : public testing::Test {
 protected:
  void SetUp() override {
    ::unsetenv(kTorch);
    ::unsetenv(kJax);
    ::unsetenv(kPath);
  }
  void TearDown() override { SetUp(); }
  static std::map<std::string, std::string> set_for(Framework framework, const std::string& path) {
    const auto prepared = prepare(framework, path, "/lib/hooks");
    return {prepared.environment.begin(), prepared.environment.end()};
  }
};

TEST_F(Frameworks, APythonProgramIsPreparedForAll) {
  const auto set = set_for(Framework::automatic, "/usr/bin/python3.12");
  EXPECT_EQ(set.count(kTorch), 0u) << "its pluggable allocator sees more";
  EXPECT_EQ(set.at(kJax), "platform");
  EXPECT_EQ(set.at(kHooks), "torch,cupy");
  EXPECT_EQ(set.at(kPath), "/lib/hooks");
  const auto folder = TemporaryFolder::create("framework-test");
  for (const char* line : {"#!/usr/bin/python3\n", "#!/usr/bin/env python3\n"}) {
    const auto script = folder->path() / "torchrun";
    std::ofstream(script) << line;
    EXPECT_EQ(set_for(Framework::automatic, script.string()).size(), 3u) << line;
  }
}

TEST_F(Frameworks, OthersOnlyIfAskedFor) {
  EXPECT_TRUE(set_for(Framework::automatic, "/bin/sh").empty());
  EXPECT_EQ(prepare(Framework::automatic, "/bin/sh", "/lib/hooks").note, "");
  EXPECT_TRUE(set_for(Framework::none, "/usr/bin/python3").empty());
  EXPECT_EQ(set_for(Framework::torch_nocache, "/bin/sh").count(kTorch), 1u);
  EXPECT_EQ(set_for(Framework::torch_nocache, "/bin/sh").count(kJax), 0u);
  EXPECT_EQ(set_for(Framework::jax_platform, "/bin/sh").count(kJax), 1u);
  EXPECT_EQ(set_for(Framework::torch_pluggable, "/bin/sh").at(kHooks), "torch");
  EXPECT_EQ(set_for(Framework::cupy, "/bin/sh").at(kHooks), "cupy");
}

TEST_F(Frameworks, WhatTheEnvironmentHasIsKept) {
  ::setenv(kTorch, "0", 1);
  const auto prepared = prepare(Framework::torch_nocache, "/usr/bin/python3", "/lib/hooks");
  EXPECT_TRUE(prepared.environment.empty());
  EXPECT_NE(prepared.note.find("PYTORCH_NO_CUDA_MEMORY_CACHING is 0"), std::string::npos);
  ::setenv(kPath, "/mine:/other", 1);
  EXPECT_EQ(set_for(Framework::cupy, "/usr/bin/python3").at(kPath), "/lib/hooks:/mine:/other");
}

// The environment alone says nothing of the program.
TEST_F(Frameworks, NotesSayWhatIsSet) {
  EXPECT_EQ(prepare(Framework::automatic, "/usr/bin/python3", "/lib/hooks").note,
            "the allocator of PyTorch and CuPy is replaced when a program imports it; "
            "XLA_PYTHON_CLIENT_ALLOCATOR=platform is set");
  const auto begins = [](const std::string& note, std::string_view with) {
    return note.starts_with(with);
  };
  EXPECT_TRUE(
      begins(torch_note(Framework::torch_nocache, false), "PyTorch without its caching allocator"));
  EXPECT_TRUE(begins(torch_note(Framework::automatic, true), "PyTorch's pluggable allocator"));
  EXPECT_TRUE(begins(torch_note(Framework::torch_pluggable, false),
                     "PyTorch's allocator was not replaced"));
  EXPECT_NE(torch_note(Framework::none, false).find("--framework torch-pluggable"),
            std::string::npos);
}

}  // namespace
}  // namespace redzone::guard
