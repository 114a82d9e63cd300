// Operands of vector instructions, by their encoding. The bytes are those that GNU as makes of the
// text beside them.
#include "device/host/vector_access.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <vector>

namespace redzone::device {
namespace {

struct Case {
  const char* text;
  std::vector<std::uint8_t> code;
  std::uintptr_t address;
  redzone::Access access = redzone::Access::read;
};

// Each general register has a value of its own.
struct Registers {
  gregset_t all = {};
  Registers() {
    all[REG_RAX] = 0x1000;
    all[REG_RCX] = 0x20;
    all[REG_RSP] = 0x5000;
    all[REG_RBP] = 0x6000;
    all[REG_RDI] = 0x7000;
    all[REG_R9] = 0x90;
    all[REG_R12] = 0xc000;
    all[REG_R13] = 0xd000;
  }
};

TEST(VectorAccess, FindsTheAddressOfEachForm) {
  const Registers registers;
  const Case cases[] = {
      {"movaps (%rax), %xmm0", {0x0f, 0x28, 0x00}, 0x1000},
      {"movaps %xmm1, (%rdi)", {0x0f, 0x29, 0x0f}, 0x7000, redzone::Access::write},
      {"movapd 8(%rdi), %xmm0", {0x66, 0x0f, 0x28, 0x47, 0x08}, 0x7008},
      {"movaps -16(%rbp), %xmm2", {0x0f, 0x28, 0x55, 0xf0}, 0x5ff0},
      {"movaps 0x12345(%rdi), %xmm0", {0x0f, 0x28, 0x87, 0x45, 0x23, 0x01, 0x00}, 0x19345},
      {"movdqa (%rax,%rcx,4), %xmm0", {0x66, 0x0f, 0x6f, 0x04, 0x88}, 0x1080},
      {"movdqa %xmm0, 16(%rsp)",
       {0x66, 0x0f, 0x7f, 0x44, 0x24, 0x10},
       0x5010,
       redzone::Access::write},
      {"movaps (%r12), %xmm0", {0x41, 0x0f, 0x28, 0x04, 0x24}, 0xc000},
      {"movaps 0(%r13), %xmm8", {0x45, 0x0f, 0x28, 0x45, 0x00}, 0xd000},
      {"movaps (%rax,%r9,2), %xmm0", {0x42, 0x0f, 0x28, 0x04, 0x48}, 0x1120},
      {"movaps 0x400(,%rcx,8), %xmm0", {0x0f, 0x28, 0x04, 0xcd, 0x00, 0x04, 0x00, 0x00}, 0x500},
      {"movntps %xmm0, (%rax)", {0x0f, 0x2b, 0x00}, 0x1000, redzone::Access::write},
      {"addps 4(%rax), %xmm0", {0x0f, 0x58, 0x40, 0x04}, 0x1004},
      {"pmulld (%rdi), %xmm1", {0x66, 0x0f, 0x38, 0x40, 0x0f}, 0x7000},
      {"vmovaps (%rdi), %xmm0", {0xc5, 0xf8, 0x28, 0x07}, 0x7000},
      {"vmovdqa %xmm0, (%r12)",
       {0xc4, 0xc1, 0x79, 0x7f, 0x04, 0x24},
       0xc000,
       redzone::Access::write},
  };
  for (const Case& c : cases) {
    auto code = c.code;
    code.resize(16, 0x90);
    const auto found = vector_access(code.data(), registers.all);
    ASSERT_TRUE(found) << c.text;
    EXPECT_EQ(found->address, c.address) << c.text;
    EXPECT_EQ(found->access, c.access) << c.text;
  }
}

TEST(VectorAccess, OtherInstructionsHaveNone) {
  const Registers registers;
  const Case cases[] = {
      {"mov (%rax), %rax", {0x48, 0x8b, 0x00}, 0},
      {"movaps %xmm1, %xmm0", {0x0f, 0x28, 0xc1}, 0},
      {"movaps 16(%rip), %xmm0", {0x0f, 0x28, 0x05, 0x10, 0x00, 0x00, 0x00}, 0},
      {"movss (%rax), %xmm0", {0xf3, 0x0f, 0x10, 0x00}, 0},
      {"vaddps (%rdi), %xmm1, %xmm0", {0xc5, 0xf0, 0x58, 0x07}, 0},
      {"ret", {0xc3}, 0},
  };
  for (const Case& c : cases) {
    auto code = c.code;
    code.resize(16, 0x90);
    EXPECT_FALSE(vector_access(code.data(), registers.all)) << c.text;
  }
}

}  // namespace
}  // namespace redzone::device
