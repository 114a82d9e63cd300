// What is read of cuda-gdb's output for a core dump.
#include "sanitizer/cuda_gdb.h"

#include <gtest/gtest.h>

#include "sanitizer/fault_access.h"

#include "sanitizer/cuda_gdb_golden.h"

namespace redzone::sanitizer {
namespace {

TEST(CudaGdb, NamesTheKernelItsLineAndTheException) {
  const Attribution a = read_cuda_gdb(kCudaGdbGolden);
  EXPECT_EQ(a.source, "core dump");
  EXPECT_EQ(a.kernel, "farkernel");
  EXPECT_EQ(a.location, "q.cu:4");
  EXPECT_EQ(a.detail, "Warp Illegal Address");
  EXPECT_EQ(a.call, -1);
}

TEST(CudaGdb, KnowsNoLineWithoutLineinfo) {
  const Attribution a = read_cuda_gdb(
      "CUDA Exception: Lane User Stack Overflow\n"
      "The exception was triggered at PC 0x10  void (anonymous namespace)::scan<float, "
      "32>(float const*, void (*)(int))\n");
  EXPECT_EQ(a.kernel, "(anonymous namespace)::scan<float, 32>");
  EXPECT_EQ(a.location, "");
}

TEST(CudaGdb, SaysSoWhereThereIsNothing) {
  for (const char* output : {"", "Segmentation fault\n", "The exception was triggered\n"})
    EXPECT_EQ(text_of(read_cuda_gdb(output)), "cuda-gdb reports no exception in the core dump");
  // What is cut off is no reason to fail.
  const std::string golden = kCudaGdbGolden;
  for (std::size_t n = 0; n < golden.size(); ++n) read_cuda_gdb(golden.substr(0, n));
  EXPECT_EQ(read_cuda_gdb("The exception was triggered at PC 0x7f").kernel, "");
}

// The instruction in the first line, and the registers that it names.
std::string view(const std::string& instruction) {
  return "=> 0x7fffd8fa0c90 <_Z4fillPflf+144>:\t" + instruction +
         "\nR2             0x4c001000          1275072512\nR3             0x7f21               "
         "32545\n"
         "R9             0xfffffff0          -16\nUR4 0x20\nUR5 0x1\n";
}

TEST(FaultAccess, IsTheAddressOfTheOperandInBrackets) {
  const std::uint64_t base = 0x7f21'4c001000;
  const struct {
    const char* instruction;
    Access access;
    std::optional<std::uint64_t> address;
  } rows[] = {
      {"STG.E desc[UR4][R2.64], R7", Access::write, base},
      {"@P0 LDG.E.128 R4, desc[UR6][R2.64+0x10]", Access::read, base + 0x10},
      {"@!P1 LDG.E R4, [R2.64+-0x4] ;", Access::read, base - 4},
      {"RED.E.ADD.F32.FTZ.RN.STRONG.GPU [R2.64], R5", Access::write, base},
      {"LDG.E R4, [R9.U32+UR4]", Access::read, 0x1'00000020 + 0xfffffff0},
      {"LDG.E R4, [R2]", Access::read, base},
      {"LDG.E R2,desc[UR4][R2.64]", Access::read, std::nullopt},  // the load has changed R2
      {"LDG.E.64 R3, [R2.64]", Access::read, std::nullopt},
      {"@P0 LDG.E.128 R0, [R2.64]", Access::read, std::nullopt},
      {"LDG.E.64 R0, [R2.64]", Access::read, base},
      {"STG.E desc[UR4][R2.64], R2", Access::write, base},
      {"LDG.E R4, [R20.64]", Access::read, std::nullopt},  // not printed
      {"LDG.E R4, [RZ+0x10]", Access::read, std::nullopt},
      {"UTMALDG.2D [UR4], [UR6]", Access::unknown, std::nullopt},
      {"FADD R2, R2, 1", Access::unknown, std::nullopt},
      {"", Access::unknown, std::nullopt},
  };
  for (const auto& row : rows) {
    const auto read = read_fault_access(view(row.instruction));
    EXPECT_EQ(read.access, row.access) << row.instruction;
    EXPECT_EQ(read.address, row.address) << row.instruction;
  }
  EXPECT_EQ(read_fault_access(view("STG.E [R2.64], R7")).instruction, "STG.E [R2.64], R7");
}

// Of cuda-gdb of CUDA 13.0 on an H100; `*>` marks the instruction of the error.
TEST(FaultAccess, OfAGpu) {
  const auto read = read_fault_access(
      "*> 0x7f89eb7ac280 <_ZN39_GLOBAL__N__90b30b6b_10_program_cu_main8plus_oneEPKflPf+128>:\t"
      "LDG.E.128 R4,desc[UR4][R2.64]\n"
      "pc             0x7f89eb7ac2a0      0x7f89eb7ac2a0 <plus_one(float const*, long, "
      "float*)+160>\n"
      "R1             0xfffdc0            16776640\n"
      "R2             0xe93fff00          3913285376\n"
      "R3             0x7f89              32649\n");
  EXPECT_EQ(read.instruction, "LDG.E.128 R4,desc[UR4][R2.64]");
  EXPECT_EQ(read.access, Access::read);
  EXPECT_EQ(read.address, 0x7f89'e93fff00u);
}

TEST(FaultAccess, AcceptsAnyText) {
  const std::string all = view("STG.E desc[UR4][R2.64+UR4+0x10], R7");
  for (std::size_t n = 0; n <= all.size(); ++n) {
    const auto read = read_fault_access(all.substr(0, n));
    EXPECT_TRUE(!read.address || read.access != Access::unknown);
  }
  EXPECT_EQ(read_fault_access("No symbol \"errorpc\" in current context.\n").instruction, "");
}

}  // namespace
}  // namespace redzone::sanitizer
