#include "core/attribution.h"

#include <gtest/gtest.h>

namespace redzone {
namespace {

TEST(Attribution, SaysWhatIsKnownAndNothingElse) {
  EXPECT_EQ(
      text_of({"memcheck", 1, "scan", Access::read, "x", Side::after, "scan.cu:41", "8 bytes"}),
      "call 2: read after 'x' in scan at scan.cu:41; 8 bytes");
  EXPECT_EQ(text_of({"core dump", -1, "scan", {}, {}, {}, "scan.cu:41", {}}),
            "in scan at scan.cu:41");
  EXPECT_EQ(text_of({"progress markers", 0, {}, {}, {}, {}, {}, "of 2 kernels"}),
            "call 1; of 2 kernels");
  EXPECT_EQ(text_of({"core dump", -1, {}, {}, {}, {}, {}, "cuda-gdb is not installed"}),
            "cuda-gdb is not installed");
  // A side without a known buffer is not shown.
  EXPECT_EQ(text_of({"host device", 0, {}, Access::write, {}, Side::after, {}, {}}),
            "call 1: write");
  EXPECT_EQ(text_of({}), "");
}

}  // namespace
}  // namespace redzone
