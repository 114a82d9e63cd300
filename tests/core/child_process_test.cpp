#include "core/child_process.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <thread>

namespace redzone {
namespace {

// A child that does this and ends with the code that it returns.
template <class Code>
pid_t forked(Code code) {
  const pid_t pid = ::fork();
  if (pid == 0) {
    ::setpgid(0, 0);
    ::_exit(code());
  }
  return pid;
}

[[noreturn]] void sleep_on() {
  for (;;) ::pause();
}

bool exists(pid_t pid) {
  return ::kill(pid, 0) == 0;
}

TEST(ChildProcess, SaysHowItEndedAsOftenAsItIsAsked) {
  ChildProcess child(forked([] { return 7; }));
  const int status = child.wait();
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 7);
  EXPECT_EQ(child.ended(), status);
  EXPECT_EQ(child.wait(), status);
}

TEST(ChildProcess, EndsWithItsOwner) {
  pid_t pid = -1;
  {
    ChildProcess child(pid = forked([]() -> int { sleep_on(); }));
    EXPECT_EQ(child.ended(), std::nullopt);
    EXPECT_TRUE(exists(pid));
  }
  EXPECT_FALSE(exists(pid));
}

TEST(ChildProcess, WhatItHasStartedEndsWithIt) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  {
    ChildProcess child(forked([&] {
      if (::fork() == 0) sleep_on();  // holds the pipe open
      return 0;
    }));
    ::close(ends[1]);
    EXPECT_EQ(child.wait(), 0);
    char byte = 0;
    EXPECT_EQ(::read(ends[0], &byte, 1), 0);  // at its end
  }
  ::close(ends[0]);
}

TEST(ChildProcess, OneThatAnotherHasWaitedForHasEnded) {
  const pid_t pid = forked([] { return 0; });
  ASSERT_EQ(::waitpid(pid, nullptr, 0), pid);
  ChildProcess child(pid);
  EXPECT_TRUE(WIFEXITED(child.wait()));
}

TEST(ChildProcess, RunsAProgramOfThePathWithItsOutput) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  auto child = ChildProcess::start(
      {.words = {"sh", "-c", "echo out; echo err >&2; exit 5"}, .output = ends[1]});
  ASSERT_TRUE(child);
  ::close(ends[1]);
  EXPECT_EQ(WEXITSTATUS(child->wait()), 5);
  char text[16] = {};
  EXPECT_EQ(::read(ends[0], text, sizeof text), 8);
  EXPECT_STREQ(text, "out\nerr\n");
  ::close(ends[0]);
}

TEST(ChildProcess, AProgramThatIsNotThereIsAnError) {
  const auto none = ChildProcess::start({.words = {"/no/such/program"}});
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().message, "/no/such/program: No such file or directory");
}

TEST(ChildProcess, IsSignalled) {
  auto child = ChildProcess::start({.words = {"sleep", "1000"}});
  ASSERT_TRUE(child);
  EXPECT_EQ(child->ended(), std::nullopt);
  ChildProcess moved = *std::move(child);
  moved.signal(SIGTERM);
  EXPECT_EQ(WTERMSIG(moved.wait()), SIGTERM);
}

}  // namespace
}  // namespace redzone
