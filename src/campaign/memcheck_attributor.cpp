#include "campaign/memcheck_attributor.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "oracles/sanitizer.h"

namespace redzone::campaign {
namespace {

constexpr const char* kSource = "memcheck";

bool about_memory(FailKind kind) {
  return kind == FailKind::illegal_access || kind == FailKind::misaligned ||
         kind == FailKind::redzone || kind == FailKind::use_after_free ||
         kind == FailKind::input_changed;
}

Attribution memcheck_said(std::string detail) {
  Attribution a;
  a.source = kSource;
  a.detail = std::move(detail);
  return a;
}

Attribution attribution(const SanitizerRecord& record) {
  Attribution a;
  a.source = kSource;
  a.call = record.call;
  a.kernel = record.kernel;
  a.access = record.access;
  a.buffer = record.buffer;
  a.side = record.side;
  a.location = record.location;
  a.detail = record.kind;
  std::replace(a.detail.begin(), a.detail.end(), '-', ' ');
  if (record.size_bytes > 0) a.detail += fmt::format(" of {} bytes", record.size_bytes);
  if (record.distance_bytes > 0)
    a.detail += fmt::format(" at a distance of {} bytes", record.distance_bytes);
  if (!record.thread.empty())
    a.detail += fmt::format(" by thread ({}) of block ({})", record.thread, record.block);
  if (record.count > 1) a.detail += fmt::format(", {} records alike", record.count);
  return a;
}

}  // namespace

std::vector<Attribution> MemcheckAttributor::attribute(exec::Runner& runner, const Plan& plan,
                                                       const TrialSpec& trial,
                                                       const Signature& signature,
                                                       const std::function<bool()>& stop) {
  if (!about_memory(signature.kind)) return {};
  if (!problem_.empty()) return {memcheck_said("not available: " + problem_)};
  const oracles::SanitizerOracle oracle(SanitizerTool::memcheck);
  for (const Launch launch : {Launch::blocking, trial.mode.launch}) {
    exec::Job job;
    job.plan = plan;
    job.trials = {trial};
    job.trials[0].reference = false;
    job.trials[0].mode.launch = launch;
    job.trials[0].mode.sanitizer = SanitizerTool::memcheck;
    job.deadline = deadline_;
    const auto results = runner.run_fresh(std::span(&job, 1), {stop});
    const auto& observations = results.at(0).observations;
    const Verdict verdict = oracle.judge(plan, {}, observations);
    if (verdict.failed()) return {attribution(*oracles::worst(*observations.at(0).sanitizer))};
    if (verdict.outcome != Outcome::pass)
      return {memcheck_said(fmt::format("no answer: {}", verdict.reason))};
    if (launch == trial.mode.launch) break;
  }
  return {
      memcheck_said("no error: the access stays inside memory that memcheck considers allocated")};
}

}  // namespace redzone::campaign
