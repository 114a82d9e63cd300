#include "generators/no_call.h"

#include <gtest/gtest.h>

#include <stdexcept>

#include "tests/generators/specs.h"

namespace redzone::generators {
namespace {

using redzone::testing::chunk_like_spec;

std::string why(const TargetSpec& spec) {
  return why_no_call(spec).value_or("");
}

TEST(NoCall, OfATargetThatHasSomeThereIsNothingToSay) {
  EXPECT_EQ(why_no_call(chunk_like_spec()), std::nullopt);
}

TEST(NoCall, AConstraintThatNeverHolds) {
  TargetSpec spec = chunk_like_spec();
  spec.constraints.push_back(Constraint::predicate(
      "T must be odd and even", [](const Dims&, const Config&) { return false; }));
  EXPECT_NE(why(spec).find("target 'chunk_like': no call found"), std::string::npos) << why(spec);
}

TEST(NoCall, AShapeThatIsNegativeSaysWhichTensorHasIt) {
  TargetSpec spec = chunk_like_spec();
  spec.tensors[1].shape = [](const Dims& d) { return Shape{get(d, "B") - 9}; };
  EXPECT_NE(why(spec).find("tensor 'v': a negative size"), std::string::npos) << why(spec);
}

TEST(NoCall, AFunctionOfTheTargetThatThrows) {
  TargetSpec spec = chunk_like_spec();
  spec.tensors[0].shape = [](const Dims& d) { return Shape{get(d, "no_such_dim")}; };
  EXPECT_EQ(why(spec), "no dim 'no_such_dim'");
}

}  // namespace
}  // namespace redzone::generators
