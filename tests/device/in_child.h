// Faults of the host device: a child process makes them, and the parent reads the black box.
#pragma once

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <functional>
#include <new>

#include "tests/device/on_device.h"

namespace redzone::device::testing {

struct Ended {
  int status = 0;
  BlackBox box;
};

// Runs `body` in a child whose device writes to a shared black box.
inline Ended in_child(const std::function<void(Device&)>& body) {
  void* page =
      mmap(nullptr, sizeof(BlackBox), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  auto* box = new (page) BlackBox;
  const pid_t child = fork();
  if (child == 0) {
    auto device = host_device();
    device->set_black_box(box);
    body(*device);
    _exit(0);
  }
  Ended ended;
  waitpid(child, &ended.status, 0);
  ended.box = *box;
  munmap(page, sizeof(BlackBox));
  return ended;
}

inline void expect_fault(const Ended& ended, int signal, std::uint32_t valid = kFaultOfSignal) {
  ASSERT_TRUE(WIFEXITED(ended.status));
  EXPECT_EQ(WEXITSTATUS(ended.status), kFaultExit);
  EXPECT_EQ(ended.box.fault.valid, valid);
  EXPECT_EQ(ended.box.fault.signal, signal);
}

}  // namespace redzone::device::testing
