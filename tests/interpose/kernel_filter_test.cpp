#include "interpose/kernel_filter.h"

#include <gtest/gtest.h>

namespace redzone::interpose {
namespace {

constexpr const char* kFill = "_Z4fillPfi";  // fill(float*, int)

TEST(KernelFilters, FindThePatternInEitherName) {
  EXPECT_TRUE(KernelFilter("fill").names(kFill));
  EXPECT_TRUE(KernelFilter("^_Z4").names(kFill)) << "as the linker has it";
  EXPECT_TRUE(KernelFilter("^fill\\(float\\*, int\\)$").names(kFill)) << "as it is written";
  EXPECT_FALSE(KernelFilter("^ill").names(kFill));
  EXPECT_TRUE(KernelFilter("scale|fill").names(kFill));
  EXPECT_TRUE(KernelFilter("^triton_").names("triton_poi_fused")) << "no name of C++";
  EXPECT_FALSE(KernelFilter("^triton_").names(kFill));
}

TEST(KernelFilters, LeaveNoKernelOutThatMayBeMeant) {
  EXPECT_TRUE(KernelFilter("").names_all());
  EXPECT_TRUE(KernelFilter("").names(kFill));
  EXPECT_TRUE(KernelFilter("scale").names("")) << "its name is not known";
  EXPECT_TRUE(KernelFilter("(").names(kFill)) << "no pattern";
}

TEST(KernelFilters, SayWhatIsWrongWithAPattern) {
  char text[128] = {};
  EXPECT_FALSE(KernelFilter::problem("a|b[0-9]", text, sizeof text));
  EXPECT_TRUE(KernelFilter::problem("fill(", text, sizeof text));
  EXPECT_NE(text[0], '\0');
}

}  // namespace
}  // namespace redzone::interpose
