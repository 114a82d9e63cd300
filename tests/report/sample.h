// Values with every member away from its default.
#pragma once

#include "core/campaign_record.h"
#include "core/sample.h"
#include "report/values.h"

namespace redzone::report::testing {

inline Finding sample_finding() {
  Finding f;
  f.id = 3;
  f.signature = {FailKind::illegal_access, "sample", "scan", "x", "after", "read"};
  f.state = FindingState::flaky;
  f.oracle = "fault";
  f.reason = "scan reads 4 bytes past the end of x";
  f.original = redzone::testing::sample_plan();
  f.plan = f.original;
  f.plan.steps.erase(f.plan.steps.begin(), f.plan.steps.begin() + 3);
  f.minimal = true;
  f.reduction = {ReductionEnd::minimal, 84, 160, 0.6};
  f.reliability = {7, 10};
  f.attribution = {{"launch", "blocking", {0, 5}}, {"placement", "guard_before", {5, 5}}};
  f.fault_attributions = {
      {"host device", 0, "scan", Access::read, "x", Side::after, "", "block (0, 0, 0)"},
      {"memcheck", 0, "scan", Access::read, "x", Side::after, "scan.cu:7", "4 bytes"}};
  f.fault_detail = "SIGSEGV at x + 64";
  f.environment = {"NVIDIA H100",        "580.1", 90,     "nvcc 13.0", "13.0",
                   "Linux 6.1.0 x86_64", "c0de",  "0.1.0"};
  f.campaign = 2;
  f.plans_to_first = 1234;
  f.seconds_to_first = 1.5;
  f.occurrences = 2;
  f.first_seen = "2025-01-31T12:00:00Z";
  f.last_seen = "2025-01-31T13:00:00Z";
  return f;
}

// Of one place, in two trials.
inline ToolWarnings sample_warnings() {
  SanitizerRecord record;
  record.kind = "barrier-divergence";
  record.warning = true;
  record.kernel = "scan";
  record.location = "scan.cu:8";
  ToolWarnings warnings;
  for (const char* thread : {"1,0,0", "2,0,0"}) {
    record.thread = thread;
    warnings.add({SanitizerTool::sync, {record}, 0, ""});
  }
  return warnings;
}

inline CampaignRecord sample_campaign() {
  CampaignRecord c;
  c.id = 2;
  c.seed = 0xfedcba9876543210u;
  c.device = "host";
  c.command = "redzone run --time 10s";
  c.started = "2025-01-31T12:00:00Z";
  c.ended = "2025-01-31T12:00:10Z";
  c.stats = {10.0, 1500, 12345, 3000, 1400, 10, 3, 80, 7, 4, 1, 2, 5};
  return c;
}

inline TargetInfo sample_target() {
  TargetInfo t;
  t.spec = redzone::testing::sample_spec();
  t.spec.doc = "a sample";
  t.spec.dims[1].tile = 16;
  t.spec.tensors[1].dtype_of = [](const Config&) { return DType::bf16; };
  t.spec.has_reference = true;
  t.devices = {{"host", true, "", "sample.host.so", "0123"},
               {"cuda", false, "no driver", "sample.cuda.so", "4567"}};
  return t;
}

// Three runs: two fail as recorded, one passes.
inline ReplayResult sample_replay() {
  const Finding f = sample_finding();
  ReplayRun failed;
  failed.end = End::fault;
  failed.verdict = {Outcome::fail, "fault", f.reason, f.signature, 0};
  failed.result = RunResult::recorded;
  failed.wall_us = 120;
  ReplayRun passed;
  passed.verdict = Verdict::pass("fault");
  passed.result = RunResult::pass;
  passed.wall_us = 100;
  return {"finding 3", f.signature, {failed, passed, failed}};
}

}  // namespace redzone::report::testing
