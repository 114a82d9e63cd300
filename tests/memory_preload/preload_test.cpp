// A program with the library preloaded.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <utility>

#include "core/preload.h"
#include "core/temporary_folder.h"

namespace redzone::memory_preload {
namespace {

// The beginning of a command that runs with the library, if it is to; `links` is a folder for a
// link to it (core/preload.h).
std::string preloading(bool preloaded, const TemporaryFolder& links) {
  if (!preloaded) return "";
  return fmt::format("LD_PRELOAD={} ", preload_name(MEMORY_LIBRARY, links.path())->string());
}

// Its exit code; 128 + signal if one has ended it.
int run(const std::string& deed, bool preloaded = true) {
  const auto links = TemporaryFolder::create("preload-test");
  const std::string command = preloading(preloaded, *links) + "exec '" MEMORY_PROGRAM "' " + deed;
  const int status = std::system(command.c_str());
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

// Exit code and output of a program that runs two equal trials of a target.
std::pair<int, std::string> trials(const std::string& arguments, bool preloaded = true) {
  const auto links = TemporaryFolder::create("preload-test");
  const std::string command =
      preloading(preloaded, *links) + "'" OWN_MEMORY_PROGRAM "' " + arguments + " 2>&1";
  std::FILE* const pipe = ::popen(command.c_str(), "r");
  std::string out;
  for (int c = 0; (c = std::fgetc(pipe)) != EOF;) out += static_cast<char>(c);
  return {WEXITSTATUS(::pclose(pipe)), out};
}

TEST(OwnMemory, AWriteIntoTheSlackIsToldWithTheCallOfTheBlock) {
  const std::string clean = "completed; 1 blocks, 12 bytes, unguarded 0\n";
  EXPECT_EQ(trials("fill guard 3"), std::pair(0, clean + clean));
  const std::string damaged =
      "completed; call 0: 8 dirty after torch#1, from byte 12; 1 blocks, 12 bytes, unguarded 0\n";
  EXPECT_EQ(trials("fill guard 5"), std::pair(0, damaged + damaged));
  EXPECT_EQ(trials("fill caching 5"), std::pair(0, clean + clean)) << "as without a guard";
  const std::string plain = "completed; 0 blocks, 0 bytes, unguarded 0\n";
  EXPECT_EQ(trials("fill plain 3"), std::pair(0, plain + plain));
}

TEST(OwnMemory, TrialsOfTargetsThatTakeNoneHaveNone) {
  const std::string none = "completed; nothing of its own\n";
  EXPECT_EQ(trials("nothing guard 3"), std::pair(0, none + none));
  EXPECT_EQ(trials("nothing guard 3", false), std::pair(0, none + none));
}

TEST(OwnMemory, FaultsNameTheBlock) {
  const auto [exit, text] = trials("fill guard 17");
  EXPECT_EQ(exit, 86);
  EXPECT_EQ(text, "redzone: SIGSEGV: write 53 bytes after torch#1\n");
  EXPECT_EQ(trials("read_freed guard 3"),
            std::pair(86, std::string("redzone: SIGSEGV: read 0 bytes inside torch#1 (freed)\n")));
}

TEST(OwnMemory, WithoutTheLibraryNothingIsGuardedAndItIsSaid) {
  const std::string unguarded = "completed; 0 blocks, 0 bytes, unguarded 1\n";
  EXPECT_EQ(trials("fill guard 3", false), std::pair(0, unguarded + unguarded));
}

TEST(MemoryPreload, ChangesNothingBeforeItIsArmed) {
  EXPECT_EQ(run("without_the_library", false), 0);
  EXPECT_EQ(run("not_armed"), 0);
}

TEST(MemoryPreload, GivesTheAllocatorOfTheTrialToTheLibraryAlone) {
  EXPECT_EQ(run("kinds"), 0);
  EXPECT_EQ(run("late"), 0);
}

TEST(MemoryPreload, BlocksWorkWithAllFunctionsOfTheCLibrary) {
  EXPECT_EQ(run("other_functions"), 0);
}

TEST(MemoryPreload, NamesBlocksByCallAndNumber) {
  EXPECT_EQ(run("find"), 0);
}

TEST(MemoryPreload, AWorkerFindsItAndReadsWhatItHasSeen) {
  EXPECT_EQ(run("client"), 0);
  EXPECT_EQ(run("no_client", false), 0);
}

TEST(MemoryPreload, BadAccessesFault) {
  EXPECT_EQ(run("past_the_end"), 128 + SIGSEGV);
  EXPECT_EQ(run("after_free"), 128 + SIGSEGV);
}

TEST(MemoryPreload, BadFreesEndTheProcess) {
  EXPECT_EQ(run("free_twice"), 128 + SIGABRT);
  EXPECT_EQ(run("free_inside"), 128 + SIGABRT);
}

TEST(MemoryPreload, ThreadsAndForksGoOn) {
  EXPECT_EQ(run("threads"), 0);
  EXPECT_EQ(run("forks"), 0);
}

}  // namespace
}  // namespace redzone::memory_preload
