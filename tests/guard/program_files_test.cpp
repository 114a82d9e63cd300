#include "guard/program_files.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "core/temporary_folder.h"

namespace redzone::guard {
namespace {

using Paths = std::vector<std::string>;

TEST(ProgramFiles, AreTheProgramAndItsScriptAndChangesAreSeen) {
  const auto folder = TemporaryFolder::create("files");
  ASSERT_TRUE(folder);
  const std::string program = folder->path() / "program", script = folder->path() / "train.py";
  const auto write = [](const std::string& file, const std::string& text) {
    std::ofstream(file) << text;
  };
  write(program, "one");
  write(script, std::string(3 << 20, 'x'));
  const auto files = files_of({{"python3", "-u", "train.py"}, folder->path(), {}}, program);
  ASSERT_EQ(files.size(), 2u);
  EXPECT_EQ(files[0].path, program);
  EXPECT_EQ(files[0].bytes, 3u);
  EXPECT_EQ(files[1].path, script);
  EXPECT_EQ(files[1].bytes, std::uint64_t{3 << 20});
  EXPECT_EQ(changed_files(files), Paths());
  write(program, "two");
  EXPECT_EQ(changed_files(files), Paths{program});
  write(program, "one");
  std::filesystem::remove(script);
  EXPECT_EQ(changed_files(files), Paths{script});
}

TEST(ProgramFiles, WhatIsNoFileIsLeftOut) {
  EXPECT_TRUE(files_of({{"python3", "-m", "pytest"}, "/", {}}, "/dev/zero").empty());
  EXPECT_TRUE(files_of({{"train"}, "", {}}, "").empty());
}

}  // namespace
}  // namespace redzone::guard
