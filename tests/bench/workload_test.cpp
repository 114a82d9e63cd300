// The lists of plans that all columns share.
#include "bench/workload.h"

#include <gtest/gtest.h>

#include <set>

#include "core/validate.h"

namespace redzone::bench {
namespace {

// A target with the dims of the chunk family on `device`.
TargetEntry family_target(std::string name, DeviceKind device) {
  TargetSpec spec;
  spec.name = std::move(name);
  for (const char* dim : {"B", "H", "T", "C", "D", "DV"})
    spec.dims.push_back({.name = dim, .max = 16384});
  spec.constraints = {Constraint::divides("C", "T")};
  spec.tensors = {{.name = "x", .shape = shape_of({"B", "H", "T", "D"})}};
  spec.knobs = {{"dtype", {"f32", "bf16"}}, {"num_warps", {std::int64_t{2}, std::int64_t{4}}}};
  return {std::move(spec), device, [] { return nullptr; }};
}

Registry family(DeviceKind device) {
  Registry registry;
  EXPECT_TRUE(registry.add(family_target("a", device)));
  EXPECT_TRUE(registry.add(family_target("b", device)));
  return registry;
}

TEST(Workload, IsTheSameInEveryProcessAndValidUnderTheWholeSpec) {
  for (auto device : {DeviceKind::host, DeviceKind::cuda}) {
    const Registry registry = family(device);
    for (auto name : workload_names(device)) {
      const auto once = make_workload(name, device, registry, false);
      const auto again = make_workload(name, device, registry, false);
      ASSERT_TRUE(once) << once.error().message;
      EXPECT_EQ(hash_of(*once), hash_of(*again));
      const auto quick = make_workload(name, device, registry, true);
      EXPECT_LT(quick->plans.size(), once->plans.size());
      for (const auto& plan : once->plans) {
        const auto valid = validate(plan, registry.find(plan.target, device)->spec, "plan");
        EXPECT_TRUE(valid) << valid.error().message;
      }
    }
  }
}

// Packages have a list of their own. Their dims may be those of the chunk family, but its list
// excludes them.
TEST(Workload, PackagesAreApart) {
  Registry registry = family(DeviceKind::cuda);
  EXPECT_FALSE(has_packages(registry, DeviceKind::cuda));
  EXPECT_FALSE(make_workload(kPackages, DeviceKind::cuda, registry, true));
  for (const bool lazy : {false, true}) {
    TargetEntry entry = family_target(lazy ? "p.lazy_launch" : "p", DeviceKind::cuda);
    entry.origin = {TargetSource::package, "/my/package"};
    entry.is_lazy = lazy;
    ASSERT_TRUE(registry.add(std::move(entry)));
  }
  EXPECT_TRUE(has_packages(registry, DeviceKind::cuda));
  EXPECT_FALSE(has_packages(registry, DeviceKind::host));
  const auto packages = make_workload(kPackages, DeviceKind::cuda, registry, true);
  ASSERT_TRUE(packages) << packages.error().message;
  EXPECT_FALSE(packages->plans.empty());
  for (const auto& plan : packages->plans) EXPECT_EQ(plan.target, "p");
  const auto family = make_workload("tiny", DeviceKind::cuda, registry, true);
  ASSERT_TRUE(family) << family.error().message;
  for (const auto& plan : family->plans) EXPECT_NE(plan.target, "p");
}

TEST(Workload, EachRaggedCallHasAQueryAndAKey) {
  TargetSpec spec;
  spec.name = "r";
  for (const char* dim : {"B", "TQ", "TK", "HQ", "D"})
    spec.dims.push_back({.name = dim, .min = 0, .max = 65536});
  spec.dims.back().values = {64, 128};
  spec.tensors = {{.name = "q", .shape = shape_of({"TQ", "HQ", "D"})}};
  // Expensive even without a query: dims other than B and HQ save little.
  spec.work = [](const Dims& d, const Config&) {
    return 9216.0 * static_cast<double>(get(d, "HQ")) * static_cast<double>(get(d, "B")) *
           static_cast<double>(1 + get(d, "TQ") * get(d, "TK"));
  };
  Registry registry;
  ASSERT_TRUE(registry.add({spec, DeviceKind::cuda, [] { return nullptr; }}));
  const auto workload = make_workload(kRaggedWorkload, DeviceKind::cuda, registry, false);
  ASSERT_TRUE(workload) << workload.error().message;
  int calls = 0;
  for (const auto& plan : workload->plans)
    for (const auto* step : calls_of(plan)) {
      ++calls;
      EXPECT_GE(get(step->call.dims, "TQ"), 1);
      EXPECT_GE(get(step->call.dims, "TK"), 1);
    }
  EXPECT_GT(calls, 0);
}

TEST(Workload, ModelShapesAreThoseOfAModel) {
  const Registry registry = family(DeviceKind::cuda);
  const auto workload = make_workload("model", DeviceKind::cuda, registry, false);
  ASSERT_TRUE(workload);
  std::set<std::string> targets;
  bool several_calls = false;
  for (const auto& plan : workload->plans) {
    targets.insert(plan.target);
    several_calls = several_calls || call_count(plan) > 1;
    for (const auto* step : calls_of(plan)) {
      const Dims& d = step->call.dims;
      EXPECT_EQ(get(d, "B") * get(d, "H"), 128);
      EXPECT_EQ(get(d, "T"), 8192);
      EXPECT_EQ(get(d, "C"), 64);
      EXPECT_EQ(get(d, "D"), 128);
      EXPECT_EQ(get(d, "DV"), 128);
      EXPECT_EQ(get_str(step->call.config, "dtype"), "bf16");
      EXPECT_TRUE(step->call.layouts.empty());
    }
  }
  EXPECT_EQ(targets, (std::set<std::string>{"a", "b"}));
  EXPECT_TRUE(several_calls);
}

TEST(Workload, NamesWhatIsMissing) {
  const Registry empty;
  const auto none = make_workload("tiny", DeviceKind::host, empty, true);
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().kind, ErrorKind::harness);
  const auto unknown = make_workload("huge", DeviceKind::host, empty, true);
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().kind, ErrorKind::usage);
}

TEST(Workload, CallsOfATrial) {
  Plan plan;
  plan.steps = {CallStep{{}, 3, 0}, SyncStep{}, CallStep{{}, 2, 0}};
  EXPECT_EQ(calls_in(plan, {}), 5u);
  EXPECT_EQ(calls_in(plan, {.order = {1, 0}}), 2u);
}

}  // namespace
}  // namespace redzone::bench
