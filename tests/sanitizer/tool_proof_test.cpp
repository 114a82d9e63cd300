// The self-proof of a tool, with fake tools.
#include "campaign/tool_proof.h"

#include "sanitizer/tier_fixture.h"

namespace redzone::exec {
namespace {

class ToolProof : public Tier {
 protected:
  // The error of the proof of this tool; "" if it holds.
  std::string proof(SanitizerTool tool) {
    const auto proved = campaign::prove_tool(
        executor_, catalog_, [this](std::string_view) { return &spec_; }, tool);
    if (proved) return "";
    EXPECT_EQ(proved.error().kind, ErrorKind::harness);
    EXPECT_EQ(proved.error().message.find('\n'), std::string::npos);
    return proved.error().message;
  }

 private:
  TargetSpec spec_;
  oracles::Catalog catalog_;
};

constexpr SanitizerTool kTools[] = {SanitizerTool::memcheck, SanitizerTool::racecheck,
                                    SanitizerTool::initcheck, SanitizerTool::synccheck};

TEST_F(ToolProof, AToolThatCatchesThePlantedBugOfItsKindIsProven) {
  for (const auto tool : kTools) EXPECT_EQ(proof(tool), "") << name_of(tool);
  EXPECT_EQ(opened_, 4) << "one worker each";
}

TEST_F(ToolProof, AToolThatSeesNothingIsNotProven) {
  ::setenv("FAKE_SANITIZER", "blind", 1);
  for (const auto tool : kTools)
    EXPECT_EQ(proof(tool), std::string(name_of(tool)) + " does not catch " +
                               std::string(campaign::planted_for(tool)) + ": pass");
}

TEST_F(ToolProof, AToolThatTakesOneBugForAnotherIsNotProven) {
  ::setenv("FAKE_SANITIZER", "mistaken", 1);
  EXPECT_TRUE(proof(SanitizerTool::racecheck)
                  .starts_with("racecheck does not catch a planted race: illegal-access"))
      << proof(SanitizerTool::racecheck);
}

TEST_F(ToolProof, AToolThatComplainsOfEverythingIsNotProven) {
  ::setenv("FAKE_SANITIZER", "everything", 1);
  EXPECT_TRUE(proof(SanitizerTool::memcheck)
                  .starts_with("memcheck does not pass the clean target: illegal-access"))
      << proof(SanitizerTool::memcheck);
}

TEST_F(ToolProof, AToolThatRefusesTheDeviceIsNotProvenAndSaysWhy) {
  ::setenv("FAKE_SANITIZER", "dies", 1);
  const auto message = proof(SanitizerTool::memcheck);
  EXPECT_TRUE(message.starts_with("memcheck cannot be used here: ")) << message;
  EXPECT_NE(message.find("Device not supported"), std::string::npos) << message;
}

TEST_F(ToolProof, AnAbsentToolIsNotProvenAndSaysWhy) {
  absent_ = "compute-sanitizer was not found";
  EXPECT_EQ(proof(SanitizerTool::memcheck),
            "memcheck cannot be used here: compute-sanitizer was not found");
}

}  // namespace
}  // namespace redzone::exec
