#include "guard/program.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <elf.h>

#include <cstdlib>
#include <cstring>
#include <fstream>

#include "core/temporary_folder.h"

namespace redzone::guard {
namespace {

class ProgramTest : public testing::Test {
 protected:
  std::string write(const std::string& name, const std::string& text, mode_t mode = 0755) {
    const auto file = folder_->path() / name;
    std::ofstream(file, std::ios::binary) << text;
    ::chmod(file.c_str(), mode);
    return file.string();
  }
  // An ELF file with one segment of that type.
  static std::string elf(unsigned segment, unsigned machine = EM_X86_64) {
    Elf64_Ehdr header = {};
    std::memcpy(header.e_ident, ELFMAG, SELFMAG);
    header.e_ident[EI_CLASS] = ELFCLASS64;
    header.e_machine = static_cast<Elf64_Half>(machine);
    header.e_phoff = sizeof header;
    header.e_phnum = 1;
    Elf64_Phdr program = {};
    program.p_type = segment;
    std::string out(sizeof header + sizeof program, '\0');
    std::memcpy(out.data(), &header, sizeof header);
    std::memcpy(out.data() + sizeof header, &program, sizeof program);
    return out;
  }
  static int refusal(const std::string& name, const std::string& word = "") {
    const auto found = find_program({{name}, {}, {}});
    if (found) return 0;
    EXPECT_NE(found.error().why.find(word), std::string::npos) << found.error().why;
    EXPECT_EQ(found.error().why.find('\n'), std::string::npos) << found.error().why;
    return found.error().exit_code;
  }

  Result<TemporaryFolder> folder_ = TemporaryFolder::create("program-test");
};

TEST_F(ProgramTest, IsFoundAsAShellFindsIt) {
  const auto found = find_program({{"sh"}, {}, {}});
  ASSERT_TRUE(found);
  EXPECT_TRUE(found->is_absolute());
  EXPECT_EQ(find_program({{found->string()}, {}, {}}), *found);
}

TEST_F(ProgramTest, WhatCannotBeRun) {
  EXPECT_EQ(refusal("no-such-program-anywhere", "no such program"), kNotFound);
  EXPECT_EQ(refusal("/no/such/program", "no such program"), kNotFound);
  EXPECT_EQ(refusal("", "empty"), kNotFound);
  EXPECT_EQ(refusal(write("text", "hello", 0644), "not executable"), kNotExecutable);
  EXPECT_EQ(refusal(folder_->path().string(), "not executable"), kNotExecutable);
}

TEST_F(ProgramTest, WhatNothingCanBePreloadedInto) {
  EXPECT_EQ(refusal(write("dynamic", elf(PT_INTERP))), 0);
  EXPECT_EQ(refusal(write("static", elf(PT_LOAD)), "statically linked"), kCannotGuard);
  EXPECT_EQ(refusal(write("other", elf(PT_INTERP, EM_AARCH64)), "x86-64"), kCannotGuard);
  EXPECT_EQ(refusal(write("script", "#!/bin/sh\nexit 0\n")), 0);
  EXPECT_EQ(refusal(write("of_static", "#! " + write("static2", elf(PT_LOAD)) + " -x\n"),
                    "statically linked"),
            kCannotGuard);
  EXPECT_EQ(refusal(write("cycle", "#!" + (folder_->path() / "cycle").string() + "\n")), 0);
}

TEST_F(ProgramTest, TheRightsOfAnotherUser) {
  const std::string file = write("setuid", elf(PT_INTERP));
  if (::geteuid() == 0) {
    ASSERT_EQ(::chown(file.c_str(), 12345, 0), 0);
  }
  ::chmod(file.c_str(), 04755);
  EXPECT_EQ(refusal(file, "another user"), ::geteuid() == 0 ? kCannotGuard : 0);
}

class RunProgramTest : public ProgramTest {
 protected:
  tl::expected<Ended, Refusal> run(std::vector<std::string> argv) {
    const auto program = find_program({argv, {}, {}});
    if (!program) return tl::unexpected(program.error());
    return run_program(
        {{std::move(argv), {}, {}}, *program, "/nowhere/libguard.so", folder_->path(), {}, {}, 1});
  }
};

TEST_F(RunProgramTest, ItsExitCodeIsPassedOn) {
  const auto ended = run({"sh", "-c", "exit 42"});
  ASSERT_TRUE(ended);
  EXPECT_EQ(ended->exit_code, 42);
  EXPECT_EQ(ended->signal, 0);
}

TEST_F(RunProgramTest, ASignalIsPassedOnAsAShellDoes) {
  const auto ended = run({"sh", "-c", "kill -9 $$"});
  ASSERT_TRUE(ended);
  EXPECT_EQ(ended->exit_code, 137);
  EXPECT_EQ(ended->signal, 9);
}

TEST_F(RunProgramTest, ItSeesItsArgumentsAndTheGuardsVariables) {
  const std::string file = (folder_->path() / "out").string();
  ::setenv("LD_PRELOAD", "/nowhere/other.so", 1);
  const auto ended = run({"sh", "-c", "echo \"$0 $1 $LD_PRELOAD $REDZONE_GUARD_FOLDER\" > " + file,
                          "zero", "one two"});
  ::unsetenv("LD_PRELOAD");
  ASSERT_TRUE(ended);
  std::string line;
  std::ifstream in(file);
  std::getline(in, line);
  EXPECT_EQ(line,
            "zero one two /nowhere/libguard.so:/nowhere/other.so " + folder_->path().string());
}

// Not before it is run, as its kind says nothing.
TEST_F(RunProgramTest, WhatTheKernelRefuses) {
  const auto ended = run({write("nonsense", "\x01\x02 no program")});
  ASSERT_FALSE(ended);
  EXPECT_EQ(ended.error().exit_code, kNotExecutable);
}

TEST_F(RunProgramTest, ALibraryThatLdPreloadCannotNameIsNamedByALink) {
  const auto run_in = [](const std::filesystem::path& folder, const std::string& script) {
    return run_program({{{"sh", "-c", script}, {}, {}},
                        *find_program({{"sh"}, {}, {}}),
                        "/a b/libguard.so",
                        folder,
                        {},
                        {},
                        1});
  };
  const auto link = folder_->path() / "libguard.so";
  const auto ended = run_in(folder_->path(), "test \"$LD_PRELOAD\" = " + link.string());
  ASSERT_TRUE(ended) << ended.error().why;
  EXPECT_EQ(ended->exit_code, 0);
  EXPECT_EQ(std::filesystem::read_symlink(link), "/a b/libguard.so");
  const auto spaced = folder_->path() / "a folder";
  std::filesystem::create_directory(spaced);
  const auto refused = run_in(spaced, "true");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().exit_code, kCannotGuard);
}

// A supervisor that stops the command stops the program.
TEST_F(RunProgramTest, ATerminationIsPassedOn) {
  const auto ended =
      run({"sh", "-c", "trap 'exit 7' TERM; kill -TERM $PPID; while :; do sleep 0.01; done"});
  ASSERT_TRUE(ended);
  EXPECT_EQ(ended->exit_code, 7);
}

}  // namespace
}  // namespace redzone::guard
