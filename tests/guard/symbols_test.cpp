#include "guard/symbols.h"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <string>

namespace redzone::guard {
namespace {

std::string read_all(const std::string& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

__attribute__((noinline)) int a_function_of_this_test(int n) {
  asm volatile("" : "+r"(n));
  return n + 1;
}

TEST(Mappings, LinesOfTheKernel) {
  const auto all = parse_mappings(
      "55d0c0000000-55d0c0002000 r--p 00000000 08:01 131 /usr/bin/true\n"
      "7ffd00000000-7ffd00021000 rw-p 00000000 00:00 0 [stack]\n"
      "7f0000001000-7f0000003000 r-xp 0001a000 08:01 7   /tmp/with a space.so\n"
      "7f0000009000-7f000000a000 rw-p 00000000 00:00 0\n"
      "nonsense\n7f-\n7f-8f\n7f00-8f00 r--p zz 08:01 1 /x\n"
      "55d0c0000000-55d0c0002000 r/xp 0000000 0\n");
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0].begin, 0x55d0c0000000u);
  EXPECT_EQ(all[0].end, 0x55d0c0002000u);
  EXPECT_EQ(all[0].file, "/usr/bin/true");
  EXPECT_EQ(all[1].offset, 0x1a000u);
  EXPECT_EQ(all[1].file, "/tmp/with a space.so");
}

TEST(Symbols, FindAFunctionOfThisProcess) {
  const Symbols symbols(read_all("/proc/self/maps"));
  const Frame frame = symbols.at(reinterpret_cast<std::uint64_t>(&a_function_of_this_test) + 2);
  EXPECT_NE(frame.function.find("a_function_of_this_test(int)"), std::string::npos)
      << frame.function;
  EXPECT_NE(frame.module.find("guard_test"), std::string::npos) << frame.module;
  EXPECT_EQ(a_function_of_this_test(1), 2);
}

TEST(Symbols, FindAFunctionOfALibrary) {
  const Symbols symbols(read_all("/proc/self/maps"));
  const Frame frame = symbols.at(reinterpret_cast<std::uint64_t>(&::getenv));
  EXPECT_NE(frame.function.find("getenv"), std::string::npos) << frame.function;
}

TEST(Symbols, AnAddressOfNoFileHasNoName) {
  const Symbols symbols(read_all("/proc/self/maps"));
  const Frame frame = symbols.at(16);
  EXPECT_EQ(frame.address, 16u);
  EXPECT_EQ(frame.module, "");
  EXPECT_EQ(frame.function, "");
}

TEST(ElfFunctions, ADamagedFileHasNone) {
  const std::string image = read_all("/proc/self/exe");
  ASSERT_GT(image.size(), 4096u);
  EXPECT_EQ(ElfFunctions("").at(0), "");
  EXPECT_EQ(ElfFunctions("\x7f"
                         "ELF")
                .at(0),
            "");
  for (const std::size_t bytes : {std::size_t{64}, std::size_t{200}, image.size() / 2})
    ElfFunctions(image.substr(0, bytes)).at(4096);
  std::string wrong = image;
  for (std::size_t i = 32; i < 64; ++i) wrong[i] = '\xff';
  EXPECT_EQ(ElfFunctions(wrong).at(4096), "");
}

}  // namespace
}  // namespace redzone::guard
