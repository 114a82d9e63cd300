#include "guard/framework.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <map>

#include "core/temporary_folder.h"
#include "interpose/settings.h"

namespace redzone::guard {
namespace {

using interpose::kCupyHook;
using interpose::kTorchHook;

constexpr const char* kTorch = "PYTORCH_NO_CUDA_MEMORY_CACHING";
constexpr const char* kJax = "XLA_PYTHON_CLIENT_ALLOCATOR";
constexpr const char* kPython = "/usr/bin/python3.12";

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
  EXPECT_EQ(set_for(Framework::automatic, kPython).at(kJax), "platform");
  EXPECT_EQ(set_for(Framework::automatic, kPython).count(kTorch), 0u)
      << "its pluggable allocator sees more";
  EXPECT_EQ(hooks_for(Framework::automatic, kPython), kTorchHook | kCupyHook);
  const auto folder = TemporaryFolder::create("framework-test");
  for (const char* line : {"#!/usr/bin/python3\n", "#!/usr/bin/env python3\n"}) {
    const auto script = folder->path() / "torchrun";
    std::ofstream(script) << line;
    EXPECT_EQ(set_for(Framework::automatic, script.string()).size(), 1u) << line;
    EXPECT_EQ(hooks_for(Framework::automatic, script), kTorchHook | kCupyHook) << line;
  }
}

TEST_F(Frameworks, OthersOnlyIfAskedFor) {
  EXPECT_TRUE(set_for(Framework::automatic, "/bin/sh").empty());
  EXPECT_EQ(hooks_for(Framework::automatic, "/bin/sh"), 0);
  EXPECT_EQ(prepare(Framework::automatic, "/bin/sh").note, "");
  EXPECT_TRUE(set_for(Framework::none, kPython).empty());
  EXPECT_EQ(hooks_for(Framework::none, kPython), 0);
  EXPECT_EQ(set_for(Framework::torch_nocache, "/bin/sh").count(kTorch), 1u);
  EXPECT_EQ(set_for(Framework::torch_nocache, "/bin/sh").count(kJax), 0u);
  EXPECT_EQ(set_for(Framework::jax_platform, "/bin/sh").count(kJax), 1u);
  EXPECT_EQ(hooks_for(Framework::torch_pluggable, "/bin/sh"), kTorchHook);
  EXPECT_EQ(hooks_for(Framework::cupy, "/bin/sh"), kCupyHook);
}

TEST_F(Frameworks, WhatTheEnvironmentHasIsKept) {
  ::setenv(kTorch, "0", 1);
  const auto prepared = prepare(Framework::torch_nocache, kPython);
  EXPECT_TRUE(prepared.environment.empty());
  EXPECT_NE(prepared.note.find("PYTORCH_NO_CUDA_MEMORY_CACHING is 0"), std::string::npos);
}

std::map<std::string, std::string> variables_of(int hooks, std::string_view path) {
  const auto prepared = prepare_hooks(hooks, "/new/python_guard", path);
  return {prepared.environment.begin(), prepared.environment.end()};
}

// Of a finding of an attached process the path has the hooks of that build.
TEST_F(Frameworks, HooksComeFirstInThePathAndOnce) {
  EXPECT_TRUE(variables_of(0, "/mine").empty());
  EXPECT_EQ(variables_of(kCupyHook, "").at("PYTHONPATH"), "/new/python_guard");
  EXPECT_EQ(variables_of(kTorchHook, "/mine:/old/python_guard:/other").at("PYTHONPATH"),
            "/new/python_guard:/mine:/other");
  EXPECT_EQ(variables_of(kTorchHook | kCupyHook, "").at("REDZONE_GUARD_FRAMEWORKS"), "torch,cupy");
  EXPECT_EQ(prepare_hooks(kTorchHook, "/x", "").note,
            "the allocator of PyTorch is replaced before a program uses it");
}

TEST_F(Frameworks, NotesSayWhatWasSeen) {
  const auto begins = [](const FrameworkUse& use, Framework framework, int hooks,
                         std::string_view with) {
    const std::string note = use_note(use, framework, hooks);
    return note.starts_with(with) ? std::string(with) : note;
  };
  for (const std::string_view with : {"PyTorch without its caching allocator"})
    EXPECT_EQ(begins({1, 0, 0}, Framework::torch_nocache, 0, with), with);
  for (const std::string_view with : {"PyTorch's pluggable allocator: each"})
    EXPECT_EQ(begins({2, 2, 0}, Framework::automatic, 3, with), with);
  for (const std::string_view with : {"PyTorch's pluggable allocator in 1 of 3 processes"})
    EXPECT_EQ(begins({3, 1, 0}, Framework::automatic, 3, with), with);
  for (const std::string_view with : {"PyTorch has allocated nothing through the guard"})
    EXPECT_EQ(begins({1, 0, 0}, Framework::torch_pluggable, kTorchHook, with), with);
  EXPECT_NE(use_note({1, 0, 0}, Framework::none, 0).find("--framework torch-pluggable"),
            std::string::npos);
  EXPECT_EQ(use_note({}, Framework::automatic, 3), "");
  EXPECT_TRUE(use_note({0, 0, 1}, Framework::cupy, kCupyHook).starts_with("CuPy without"));
}

}  // namespace
}  // namespace redzone::guard
