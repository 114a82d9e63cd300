// A night with something in every member.
#pragma once

#include "report/night.h"

namespace redzone::report::testing {

inline NightFinding night_finding(std::int64_t id, Standing standing, ReplayOutcome outcome) {
  NightFinding f;
  f.id = id;
  f.signature = "illegal-access: read after x in scan (sample)";
  f.signature_hash = "0123456789abcde" + std::to_string(id % 10);
  f.kind = "illegal-access";
  f.target = "sample";
  f.where = "scan";
  f.buffer = "x";
  f.side = "after";
  f.access = "read";
  f.confidence = "confirmed";
  f.ledger = {standing, "", "", "2025-01-31T02:00:00.000000Z"};
  if (standing == Standing::known) f.ledger.link = "https://example.com/issues/7";
  f.outcome = outcome;
  f.reason = "scan reads 4 bytes past the end of x";
  f.oracle = "fault";
  f.reliable_k = f.reliable_n = 10;
  f.calls = 2;
  f.minimal = true;
  f.plan = "redzone_plan = 1\ntarget = \"sample\"\n";
  f.attribution = {{"launch", "blocking", 0, 3}, {"launch", "async", 3, 3}};
  f.fault_attributions = {"memcheck: call 1: read after 'x' in scan at scan.cu:7; 4 bytes"};
  f.fault = "SIGSEGV at x + 64";
  f.device = "NVIDIA H100";
  f.driver = "580.1";
  f.toolkit = "nvcc 13.0";
  f.code_hash = "c0de";
  f.first_seen = "2025-01-30T02:00:00Z";
  f.last_seen = "2025-01-31T02:00:00Z";
  f.replay = "redzone replay " + std::to_string(id);
  f.tables = {{"bisect", {"commit", "verdict"}, {{"abc", "good"}, {"def", "bad"}}}};
  return f;
}

inline Night sample_night() {
  Night n;
  n.campaign = 12;
  n.tool_version = "0.1.0";
  n.command = "redzone nightly --time 1h";
  n.commit = "66ef1f9";
  n.device = "NVIDIA H100";
  n.driver = "580.1";
  n.toolkit = "nvcc 13.0";
  n.host = "Linux 6.1.0 x86_64";
  n.seed = 0xfedcba9876543210u;
  n.parts = {{12, 1, n.device, n.host, "2025-01-31T02:00:00Z", "2025-01-31T03:00:00Z", 1}};
  n.started = "2025-01-31T02:00:00Z";
  n.ended = "2025-01-31T03:00:00Z";
  n.budget_seconds = 3600;
  n.self_proof_seconds = 0.5;
  n.replay_seconds = 60;
  n.fuzz_seconds = 3500;
  n.planted_bugs_caught = 6;
  n.plans = 12345;
  n.calls = 678901;
  n.trials = 24690;
  n.pass = 12000;
  n.fail = 300;
  n.inconclusive = 20;
  n.not_applicable = 20;
  n.harness_errors = 5;
  n.reference = {612, 1037};
  n.workers_lost = 9;
  n.findings = {night_finding(3, Standing::regressed, ReplayOutcome::fails),
                night_finding(4, Standing::fresh, ReplayOutcome::found),
                night_finding(1, Standing::known, ReplayOutcome::flaky),
                night_finding(2, Standing::fixed, ReplayOutcome::passes),
                night_finding(5, Standing::quarantined, ReplayOutcome::not_run)};
  n.findings[0].before = Standing::fixed;
  n.findings[0].k = n.findings[0].n = 5;
  n.findings[1].occurrences = 41;
  n.findings[2].before = Standing::known;
  n.findings[2].k = 2;
  n.findings[2].n = 5;
  n.findings[3].before = Standing::fixed;
  n.findings[3].n = 5;
  n.findings[4].before = Standing::quarantined;
  n.findings[4].ledger.note = "wedges the machine";
  n.findings[4].outcome_reason = "quarantined";
  n.corpus = {{"repros/a.toml", "sample", "hang: scan (sample)", ReplayOutcome::fails, 5, 5, "", 3,
               "redzone replay repros/a.toml"},
              {"repros/b.toml",
               "other",
               "",
               ReplayOutcome::not_applicable,
               0,
               0,
               "unknown target 'other'",
               {},
               "redzone replay repros/b.toml"}};
  n.targets = {
      {{12345, 678901, 12000, 300, 20, 20, 5, 3210.5, {612, 1000}, "the trial did not complete"},
       "sample",
       1.0,
       {{Standing::fresh, 1}, {Standing::regressed, 1}},
       ""},
      {{}, "broken", 0, {}, "NVRTC is not installed"},
      {{9, 20, 9, 0, 0, 0, 0, 1.5, {0, 37}, "call 1 is too large"}, "large", 0, {}, ""}};
  n.not_judged = {{"target broken", "NVRTC is not installed"},
                  {"target large",
                   "not judged by reference: none of 37 calls was compared: call 1 is too large"},
                  {"repros/b.toml", "unknown target 'other'"}};
  n.trend = {
      {11, "2025-01-30T02:00:00Z", 12000, 600000, {{Standing::fresh, 1}}, {{"sample", 3000.0}}, 1},
      {12,
       "2025-01-31T02:00:00Z",
       12345,
       678901,
       {{Standing::fresh, 1},
        {Standing::known, 1},
        {Standing::fixed, 1},
        {Standing::regressed, 1},
        {Standing::quarantined, 1}},
       {{"sample", 3210.5}},
       1}};
  n.exit_code = 1;
  return n;
}

}  // namespace redzone::report::testing
