// The process that describes files, with programs in the place of an interpreter that do what files
// of users may do to it.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <thread>

#include "core/temporary_folder.h"
#include "python/describe.h"

namespace redzone::python {
namespace {

using std::chrono::milliseconds;

constexpr const char* kAnswer =
    R"({"redzone_python": 1, "python": "3", "torch": "", "triton": "",)"
    R"( "code_hash": "0123456789abcdef0123456789abcdef", "target": []})";

class DescribingProcess : public ::testing::Test {
 protected:
  // Runs a shell script with the arguments of `python -m redzone.describe --out-fd N FILE`.
  Result<Descriptions> described(const std::string& script,
                                 milliseconds deadline = milliseconds(30'000),
                                 const std::function<bool()>& stop = {}) {
    const auto program = folder_.path() / "python";
    std::ofstream(program) << "#!/bin/sh\nfd=$4\n" << script << "\n";
    std::filesystem::permissions(program, std::filesystem::perms::owner_all);
    const auto file = folder_.path() / "my.py";
    std::ofstream(file) << "";
    const std::filesystem::path files[] = {file};
    return describe({program, true}, files, {.deadline = deadline, .stop = stop});
  }
  // A command that writes the answer.
  std::string answer() const {
    const std::string file = (folder_.path() / "answer.json").string();
    std::ofstream(file) << kAnswer;
    return "cat " + file + " >&$fd";
  }

  TemporaryFolder folder_ = TemporaryFolder::create("python").value();
};

// A killed process that nobody has waited for is still there, without a command line.
bool runs(pid_t pid) {
  std::string command;
  std::ifstream("/proc/" + std::to_string(pid) + "/cmdline") >> command;
  return !command.empty();
}

TEST_F(DescribingProcess, ItsAnswerIsRead) {
  const auto read =
      described("echo noise; echo noise >&2; [ $2 = redzone.describe ] || exit 9; " + answer());
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->python, "3");
}

TEST_F(DescribingProcess, ALineAboutAFileIsAUsageError) {
  const auto read = described("echo chatter >&2; printf '\\nmy.py:12: no target N' >&$fd; exit 2");
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().kind, ErrorKind::usage);
  EXPECT_EQ(read.error().message, "my.py:12: no target N");
}

TEST_F(DescribingProcess, ALineInThePlaceOfTheAnswerIsNotMixedWithWhatTheFilePrints) {
  for (const char* code : {"2", "3"}) {
    const auto read = described(
        std::string("printf '\\nmy.py:12: \\303\\244\\033' >&$fd; echo later >&2; exit ") + code);
    ASSERT_FALSE(read);
    EXPECT_NE(read.error().message.find("my.py:12: \xc3\xa4"), std::string::npos)
        << read.error().message;
    EXPECT_EQ(read.error().message.find("later"), std::string::npos);
    EXPECT_EQ(read.error().message.find('\033'), std::string::npos);
  }
}

TEST_F(DescribingProcess, OneThatPrintsWithoutEndSaysWhat) {
  const auto read = described("exec yes 'once more'");
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().kind, ErrorKind::usage);
  EXPECT_NE(read.error().message.find("printed more than 256 MiB while it was imported, at last:"),
            std::string::npos)
      << read.error().message;
}

TEST_F(DescribingProcess, AMissingModuleNamesTheInterpreter) {
  const auto read = described("printf '\\nno module torch' >&$fd; exit 3");
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().kind, ErrorKind::harness);
  EXPECT_EQ(read.error().message, (folder_.path() / "python").string() + ": no module torch");
}

TEST_F(DescribingProcess, OtherEndsSayHow) {
  for (const auto& [script, text] :
       {std::pair{"exit 7", "exited with code 7 and no answer"},
        {"exit 0", "exited with code 0 and no answer"},
        {"kill -SEGV $$", "killed by SIGSEGV while it was imported"}}) {
    const auto read = described(script);
    ASSERT_FALSE(read) << script;
    EXPECT_NE(read.error().message.find(text), std::string::npos) << read.error().message;
    EXPECT_EQ(read.error().message.find('\n'), std::string::npos);
  }
}

TEST_F(DescribingProcess, AFileThatEndsTheProcessIsNamed) {
  const std::string file = (folder_.path() / "my.py").string();
  const std::string started = "printf '\\n' >&$fd; ";
  for (const std::string code : {"0", "2", "3", "7"}) {
    const std::string ended =
        file + ":1: ended the process with exit code " + code + " while it was imported";
    const auto silent = described(started + "exit " + code);
    ASSERT_FALSE(silent) << code;
    EXPECT_EQ(silent.error().kind, ErrorKind::usage);
    EXPECT_EQ(silent.error().message, ended);
    const auto printing = described(started + "echo a; echo other.py:3: b; exit " + code);
    ASSERT_FALSE(printing) << code;
    EXPECT_EQ(printing.error().kind, ErrorKind::usage);
    EXPECT_EQ(printing.error().message, ended + "; it printed: other.py:3: b");
  }
}

TEST_F(DescribingProcess, OneThatPrintsWithoutEndOrSleepsIsEndedWithWhatItStarted) {
  const std::string started = (folder_.path() / "started").string();
  for (const char* what : {"while :; do echo x; done", "sleep 600"}) {
    const auto read = described("sleep 600 & echo $! >" + started + "; " + what, milliseconds(300));
    ASSERT_FALSE(read);
    EXPECT_NE(read.error().message.find("was not imported within"), std::string::npos);
    pid_t pid = 0;
    std::ifstream(started) >> pid;
    ASSERT_GT(pid, 0);
    while (runs(pid)) std::this_thread::sleep_for(milliseconds(5));
  }
}

TEST_F(DescribingProcess, OneThatHoldsTheAnswerOpenBehindItDoesNotHoldItUp) {
  const auto read = described("sleep 600 & " + answer());
  EXPECT_TRUE(read) << read.error().message;
}

TEST_F(DescribingProcess, IsStoppedByTheUser) {
  const auto read = described("sleep 600", milliseconds(60'000), [] { return true; });
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().kind, ErrorKind::harness);
  EXPECT_NE(read.error().message.find("interrupted"), std::string::npos);
}

TEST_F(DescribingProcess, WithoutAFileItSaysTheVersions) {
  const auto program = folder_.path() / "python";
  std::ofstream(program)
      << "#!/bin/sh\nfd=$4\n[ \"$*\" = \"-m redzone.describe --out-fd $4$MORE\" ] || exit 9\n"
      << answer() << "\n";
  std::filesystem::permissions(program, std::filesystem::perms::owner_all);
  const auto read = describe({program, true}, {});
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_TRUE(read->targets.empty());
  ::setenv("MORE", " --device some", 1);
  EXPECT_TRUE(describe({program, true}, {}, {.device = "some"}));
  ::unsetenv("MORE");
}

TEST(Interpreter, IsTheGivenOneOrAnError) {
  const auto shell = find_interpreter("/bin/sh");
  ASSERT_TRUE(shell);
  EXPECT_EQ(shell->path, "/bin/sh");
  EXPECT_TRUE(shell->given);
  EXPECT_TRUE(find_interpreter("sh"));
  for (const char* none : {"/no/such/python", "no-such-python", "/tmp"}) {
    const auto found = find_interpreter(none);
    ASSERT_FALSE(found) << none;
    EXPECT_EQ(found.error().kind, ErrorKind::usage);
  }
}

TEST(Interpreter, ItsProcessesOrderSetsTheSameWayUnlessTheUserSaysHow) {
  const auto has = [](const std::vector<std::string>& all, const char* one) {
    return std::find(all.begin(), all.end(), one) != all.end();
  };
  unsetenv("PYTHONHASHSEED");
  EXPECT_TRUE(has(variables(), "PYTHONHASHSEED=0"));
  setenv("PYTHONHASHSEED", "7", 1);
  EXPECT_FALSE(has(variables(), "PYTHONHASHSEED=0"));
  unsetenv("PYTHONHASHSEED");
}

TEST(Interpreter, IsThatOfTheActiveEnvironment) {
  const TemporaryFolder folder = TemporaryFolder::create("venv").value();
  std::filesystem::create_directory(folder.path() / "bin");
  const auto python = folder.path() / "bin" / "python";
  std::filesystem::create_symlink("/bin/sh", python);
  setenv("VIRTUAL_ENV", folder.path().c_str(), 1);
  const auto found = find_interpreter("");
  unsetenv("VIRTUAL_ENV");
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_EQ(found->path, python);  // not where the link leads
  EXPECT_FALSE(found->given);
}

}  // namespace
}  // namespace redzone::python
