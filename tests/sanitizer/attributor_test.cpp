// What memcheck adds to a finding: when it reports an error, reports none, and fails itself.
#include "campaign/memcheck_attributor.h"

#include "core/attribution.h"
#include "sanitizer/tier_fixture.h"

namespace redzone::exec {
namespace {

class MemcheckAttributor : public Tier {
 protected:
  std::vector<Attribution> ask(const std::string& target, FailKind kind = FailKind::illegal_access,
                               const std::string& problem = "") {
    campaign::MemcheckAttributor attributor(problem, milliseconds(100));
    Signature signature;
    signature.kind = kind;
    signature.target = target;
    TrialSpec trial;
    trial.mode.launch = Launch::gated;
    return attributor.attribute(executor_, job_of(target, {}).plan, trial, signature, {});
  }
  std::string detail(const std::string& target) {
    const auto said = ask(target);
    EXPECT_EQ(said.size(), 1u);
    return said.empty() ? "" : said[0].detail;
  }
};

TEST_F(MemcheckAttributor, NamesTheAccess) {
  const auto said = ask("one-write");
  ASSERT_EQ(said.size(), 1u);
  Attribution want;
  want.source = "memcheck";
  want.call = 0;
  want.kernel = "scan";
  want.access = Access::write;
  want.buffer = "y";
  want.side = Side::after;
  want.location = "p.cu:8";
  want.detail =
      "invalid write of 4 bytes at a distance of 1 bytes by thread (64,0,0) of block (0,0,0)";
  EXPECT_EQ(said[0], want) << text_of(said[0]);
}

TEST_F(MemcheckAttributor, SaysThatTheToolSeesNothing) {
  EXPECT_EQ(detail("clean"),
            "no error: the access stays inside memory that memcheck considers allocated");
  EXPECT_EQ(executor_.stats().trials, 2u) << "blocking, then as it was recorded";
}

TEST_F(MemcheckAttributor, AToolThatFallsOverIsNoAnswer) {
  for (const char* how : {"dies", "hangs", "breaks"})
    EXPECT_TRUE(detail(how).starts_with("no answer: ")) << how << ": " << detail(how);
}

TEST_F(MemcheckAttributor, AToolThatDoesNotStartIsNoAnswer) {
  ::setenv("FAKE_SANITIZER", "dies", 1);
  EXPECT_NE(detail("one-write").find("Device not supported"), std::string::npos);
}

TEST_F(MemcheckAttributor, AnAbsentToolIsSaidAndNotAsked) {
  const auto said = ask("one-write", FailKind::illegal_access, "compute-sanitizer was not found");
  ASSERT_EQ(said.size(), 1u);
  EXPECT_EQ(said[0].detail, "not available: compute-sanitizer was not found");
  EXPECT_EQ(opened_, 0);
}

TEST_F(MemcheckAttributor, IsAskedOfMemoryOnly) {
  EXPECT_TRUE(ask("one-write", FailKind::reference).empty());
  EXPECT_EQ(opened_, 0);
}

}  // namespace
}  // namespace redzone::exec
