// The workload of a Python target, and what its bare process is told of it.
#include "bench/python_calls.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace redzone::bench {
namespace {

using Json = nlohmann::json;

TargetSpec small_spec() {
  TargetSpec spec;
  spec.name = "my.f";
  spec.doc = "what f does";
  spec.capturable = false;  // as all targets of Python
  spec.dims = {{.name = "N", .min = 1, .max = 9}};
  spec.knobs = {{.name = "how", .values = {"slow", "fast"}},
                {.name = "block", .values = {std::int64_t{64}, std::int64_t{128}}}};
  spec.tensors = {{.name = "x", .role = Role::out, .shape = [](const Dims& d) -> Shape {
                     return {d.at("N")};
                   }}};
  return spec;
}

TEST(PythonCalls, TheBareProcessIsToldEachCallOfThePlans) {
  const Workload workload = python_workload(small_spec(), 12);
  EXPECT_EQ(workload.name, "my.f");
  EXPECT_EQ(workload.what, "what f does");
  ASSERT_EQ(workload.plans.size(), 12u);
  const Json told = Json::parse(calls_json(workload));
  EXPECT_EQ(told["target"], "my.f");
  EXPECT_EQ(told["hash"], hash_of(workload));
  ASSERT_EQ(told["plans"].size(), 12u);
  for (std::size_t i = 0; i < workload.plans.size(); ++i) {
    const Plan& plan = workload.plans[i];
    const Json& calls = told["plans"][i];
    EXPECT_EQ(calls.size(), calls_in(plan, {}));
    const Call& first = calls_of(plan).front()->call;
    EXPECT_EQ(calls[0]["N"], first.dims.at("N"));
    EXPECT_EQ(calls[0]["how"], std::get<std::string>(first.config.at("how")));
    EXPECT_EQ(calls[0]["block"], std::get<std::int64_t>(first.config.at("block")));
  }
}

TEST(PythonCalls, TheWorkloadIsTheSameEachTime) {
  EXPECT_EQ(hash_of(python_workload(small_spec(), 5)), hash_of(python_workload(small_spec(), 5)));
}

TEST(PythonCalls, TheReportSaysWhyNothingWasMeasured) {
  Report report;
  report.python = PythonCalls{.why_not = "no torch"};
  EXPECT_NE(report_text(report).find("Python targets: not measured: no torch"), std::string::npos);
  EXPECT_EQ(Json::parse(report_json(report))["python"]["why_not"], "no torch");
  report.python.reset();
  EXPECT_TRUE(Json::parse(report_json(report))["python"].is_null());
}

}  // namespace
}  // namespace redzone::bench
