#include "report/junit.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <map>
#include <pugixml.hpp>
#include <sstream>

#include "report/nasty.h"

namespace redzone::report {
namespace {

using namespace testing;

// "passed", or the name of the element for any other result, by "suite/case".
std::map<std::string, std::string> results(const std::string& xml) {
  pugi::xml_document document;
  EXPECT_TRUE(document.load_string(xml.c_str()));
  std::map<std::string, std::string> out;
  for (const auto suite : document.child("testsuites").children("testsuite"))
    for (const auto c : suite.children("testcase")) {
      std::string result = "passed";
      for (const char* name : {"failure", "error", "skipped"})
        if (c.child(name)) result = name;
      out[std::string(suite.attribute("name").value()) + "/" + c.attribute("name").value()] =
          result;
    }
  return out;
}

Night night_with(const NightFinding& finding) {
  Night night = sample_night();
  night.findings = {finding};
  night.corpus.clear();
  return night;
}

std::string result_of(const NightFinding& finding) {
  return results(night_junit(night_with(finding)))
      .at("findings/" + finding.signature + " [" + finding.signature_hash + "]");
}

TEST(Junit, ACaseForEachTargetFindingAndPlan) {
  const auto all = results(night_junit(sample_night()));
  EXPECT_EQ(all.at("night/the night could judge"), "passed");
  EXPECT_EQ(all.at("targets/sample"), "failure");
  EXPECT_EQ(all.at("targets/broken"), "skipped");
  EXPECT_EQ(all.at("corpus/repros/a.toml"), "failure");
  EXPECT_EQ(all.at("corpus/repros/b.toml"), "skipped");
  EXPECT_EQ(all.at("targets/large"), "passed");
  EXPECT_EQ(all.size(), 1u + 3 + 5 + 2);
}

TEST(Junit, SaysHowManyCallsWereCompared) {
  pugi::xml_document document;
  ASSERT_TRUE(document.load_string(night_junit(sample_night()).c_str()));
  const auto value = [&](const std::string& name) {
    const auto path = "//testsuite[@name='night']/properties/property[@name='" + name + "']";
    return document.select_node(path.c_str()).node().attribute("value").as_int(-1);
  };
  EXPECT_EQ(value("redzone.reference.compared_calls"), 612);
  EXPECT_EQ(value("redzone.reference.calls"), 1037);
  const auto said = [&](const char* path) {
    return std::string(document.select_node(path).node().text().get());
  };
  EXPECT_NE(said("//testsuite[@name='night']/testcase/system-out")
                .find("compared with the reference: 612 of 1,037 calls\n"),
            std::string::npos);
  EXPECT_NE(said("//testcase[@name='sample']/failure")
                .find("compared with the reference: 612 of 1,000 calls"),
            std::string::npos);
  EXPECT_EQ(said("//testcase[@name='large']/system-out"),
            "9 plans, 20 calls, compared with the reference: 0 of 37 calls, not judged by "
            "reference: none of 37 calls was compared: call 1 is too large");
}

TEST(Junit, OnlyWhatFailsAndNobodyHasWaivedIsAFailure) {
  EXPECT_EQ(result_of(night_finding(1, Standing::fresh, ReplayOutcome::found)), "failure");
  EXPECT_EQ(result_of(night_finding(1, Standing::regressed, ReplayOutcome::fails)), "failure");
  EXPECT_EQ(result_of(night_finding(1, Standing::known, ReplayOutcome::fails)), "skipped");
  EXPECT_EQ(result_of(night_finding(1, Standing::fresh, ReplayOutcome::seen)), "failure");
  EXPECT_EQ(result_of(night_finding(1, Standing::known, ReplayOutcome::seen)), "skipped");
  EXPECT_EQ(result_of(night_finding(1, Standing::fresh, ReplayOutcome::gone)), "skipped");
  EXPECT_EQ(result_of(night_finding(1, Standing::fresh, ReplayOutcome::not_run)), "skipped");
  EXPECT_EQ(result_of(night_finding(1, Standing::fresh, ReplayOutcome::unclear)), "skipped");
  EXPECT_EQ(result_of(night_finding(1, Standing::quarantined, ReplayOutcome::not_run)), "skipped");
  EXPECT_EQ(result_of(night_finding(1, Standing::fixed, ReplayOutcome::passes)), "passed");
}

TEST(Junit, ATargetWithAFailureThatWasNotConfirmedIsNoPass) {
  Night night = night_with(night_finding(1, Standing::fresh, ReplayOutcome::seen));
  EXPECT_EQ(results(night_junit(night)).at("targets/sample"), "failure");
  night.findings.clear();
  EXPECT_EQ(results(night_junit(night)).at("targets/sample"), "passed");
}

TEST(Junit, APlanOfTheCorpusThatFailsIsAFailureWhateverItsFinding) {
  Night night = sample_night();
  night.findings.clear();
  night.corpus.resize(1);
  night.corpus[0].finding.reset();
  EXPECT_EQ(results(night_junit(night)).at("corpus/repros/a.toml"), "failure");
  EXPECT_EQ(results(night_junit(night)).at("targets/sample"), "failure");
  night.corpus[0].waived = true;
  EXPECT_EQ(results(night_junit(night)).at("corpus/repros/a.toml"), "skipped");
  EXPECT_EQ(results(night_junit(night)).at("targets/sample"), "passed");
}

TEST(Junit, ANightThatCouldNotJudgeIsAnError) {
  Night night = sample_night();
  for (const int code : {2, 3, 4, 130}) {
    night.exit_code = code;
    EXPECT_EQ(results(night_junit(night)).at("night/the night could judge"), "error") << code;
  }
  night.exit_code = 1;
  night.problem = "the device no longer answers";
  EXPECT_EQ(results(night_junit(night)).at("night/the night could judge"), "error")
      << "what it found before stays an alarm";
}

TEST(Junit, ATargetOfWhichNothingCouldBeJudgedIsNoPass) {
  Night night = sample_night();
  night.findings.clear();
  night.corpus.clear();
  night.targets[0].pass = night.targets[0].fail = 0;
  EXPECT_EQ(results(night_junit(night)).at("targets/sample"), "skipped");
  night.targets[0].pass = 1;
  EXPECT_EQ(results(night_junit(night)).at("targets/sample"), "passed");
}

TEST(Junit, AFailureHasItsReplayLineAndPlan) {
  pugi::xml_document document;
  ASSERT_TRUE(document.load_string(
      night_junit(night_with(night_finding(4, Standing::fresh, ReplayOutcome::found))).c_str()));
  const auto node = document.select_node("//testsuite[@name='findings']/testcase/failure").node();
  EXPECT_STREQ(node.attribute("message").value(), "scan reads 4 bytes past the end of x");
  EXPECT_STREQ(node.attribute("type").value(), "illegal-access");
  const std::string body = node.text().get();
  EXPECT_NE(body.find("redzone replay 4"), std::string::npos);
  EXPECT_NE(body.find("redzone_plan = 1"), std::string::npos);
}

RC_GTEST_PROP(Junit, AnyBytesGiveADocumentWhoseCountsAreRight, ()) {
  const Night night = nasty_night();
  const std::string xml = night_junit(night);
  pugi::xml_document document;
  RC_ASSERT(document.load_string(xml.c_str(), pugi::parse_full));
  const auto root = document.child("testsuites");
  const auto count = [&](pugi::xml_node at, const char* what) {
    return static_cast<int>(at.select_nodes(what).size());
  };
  RC_ASSERT(
      count(root, ".//testcase") ==
      static_cast<int>(1 + night.targets.size() + night.findings.size() + night.corpus.size()));
  for (const auto suite : root.children("testsuite")) {
    RC_ASSERT(suite.attribute("tests").as_int() == count(suite, "testcase"));
    RC_ASSERT(suite.attribute("failures").as_int() == count(suite, "testcase/failure"));
    RC_ASSERT(suite.attribute("errors").as_int() == count(suite, "testcase/error"));
    RC_ASSERT(suite.attribute("skipped").as_int() == count(suite, "testcase/skipped"));
  }
  RC_ASSERT(root.attribute("tests").as_int() == count(root, ".//testcase"));
  RC_ASSERT(root.attribute("failures").as_int() == count(root, ".//failure"));
}

}  // namespace
}  // namespace redzone::report
