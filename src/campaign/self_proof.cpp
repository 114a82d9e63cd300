#include "campaign/self_proof.h"

#include <fmt/format.h>

#include <optional>
#include <vector>

#include "campaign/evaluator.h"
#include "core/plan_text.h"

namespace redzone::campaign {
namespace {

using Clock = std::chrono::steady_clock;

struct Proof {
  const char* what;    // for people
  const char* target;  // of the selftest plugin
  const char* oracle;
  std::optional<FailKind> kind;  // that it must fail with; nothing: it must pass
  Launch launch;
  Placement placement;
  std::vector<std::int64_t> sizes;  // N of each call
};

// Every launch mode, both placements, and the oracles that a finding can come from without luck.
const std::vector<Proof>& proofs() {
  using L = Launch;
  using P = Placement;
  static const std::vector<Proof> all = {
      {"a write past the end",
       "write_past_end",
       "fault",
       FailKind::illegal_access,
       L::gated,
       P::tail,
       {64}},
      {"a write before the start",
       "write_before_start",
       "fault",
       FailKind::illegal_access,
       L::async,
       P::head,
       {64}},
      {"a write over a canary",
       "write_before_start",
       "redzone",
       FailKind::redzone,
       L::blocking,
       P::tail,
       {64}},
      {"a read of unwritten memory",
       "unwritten_scratch",
       "uninitialized",
       FailKind::uninitialized,
       L::async,
       P::tail,
       {64}},
      {"state kept from an earlier call",
       "stale_state",
       "history",
       FailKind::history,
       L::gated,
       P::tail,
       {64, 128}},
      {"a wrong value",
       "wrong_value",
       "reference",
       FailKind::reference,
       L::blocking,
       P::head,
       {64}},
      {"scratch for one CTA of two",
       "short_scratch",
       "scratch",
       FailKind::scratch,
       L::blocking,
       P::tail,
       {64}},
      {"the clean target", "clean", "screen", {}, L::gated, P::tail, {64, 128, 64}},
      {"the clean target", "clean", "uninitialized", {}, L::async, P::tail, {64, 128}},
      {"the clean target", "clean", "history", {}, L::gated, P::head, {64, 128}},
  };
  return all;
}

// The same where nothing runs.
const std::vector<Proof>& dry_proofs() {
  using L = Launch;
  using P = Placement;
  static const std::vector<Proof> all = {
      {"scratch for one CTA of two",
       "short_scratch",
       "scratch",
       FailKind::scratch,
       L::gated,
       P::tail,
       {64}},
      {"a launch that no device takes",
       "oversized_block",
       "fault",
       FailKind::fault,
       L::async,
       P::tail,
       {64}},
      {"the launch of an earlier call",
       "stale_launch",
       "launches",
       FailKind::launch_config,
       L::gated,
       P::tail,
       {64, 256}},
      {"the clean target", "clean", "dry-screen", {}, L::gated, P::tail, {64, 128, 64}},
  };
  return all;
}

// In a fresh worker, because it takes its worker down.
bool faults(const Proof& proof) {
  return proof.kind && *proof.kind <= FailKind::hang;
}

struct Asked {
  const Proof* proof = nullptr;
  const TargetSpec* spec = nullptr;
  Question question;
  Verdict verdict;
};

Result<Asked> prepare(const Proof& proof, const oracles::Catalog& catalog,
                      const FindSpec& find_spec) {
  const std::string target = fmt::format("selftest.{}", proof.target);
  Asked asked{&proof, find_spec(target), {catalog.find(proof.oracle), {}}, {}};
  if (asked.spec == nullptr)
    return harness_error(
        fmt::format("self-proof failed: no plugin has '{}' for this device", target));
  RZ_CHECK(asked.question.oracle != nullptr);
  Plan& plan = asked.question.plan;
  plan.target = target;
  plan.mode.launch = proof.launch;
  plan.mode.placement = proof.placement;
  for (const auto n : proof.sizes) plan.steps.emplace_back(CallStep{Call{{{"N", n}}, {}, {}, 1}});
  return asked;
}

std::optional<std::string> problem(const Asked& asked) {
  const Proof& proof = *asked.proof;
  const Verdict& v = asked.verdict;
  const bool as_wanted =
      proof.kind ? v.failed() && v.signature.kind == *proof.kind : v.outcome == Outcome::pass;
  if (as_wanted) return std::nullopt;
  const std::string got = v.failed() ? v.signature.text() : std::string(name_of(v.outcome));
  return fmt::format("self-proof failed: {}{} was {} by the oracle '{}' ({}, {}): {}{}{}",
                     proof.kind ? "planted: " : "", proof.what,
                     proof.kind ? "NOT caught" : "NOT passed", proof.oracle, name_of(proof.launch),
                     name_of(proof.placement), got, v.reason.empty() ? "" : ": ", v.reason);
}

// What runs in the warm workers. Fresh ones answer where there are no others.
class WarmJobs {
 public:
  WarmJobs(exec::Executor& executor, const SelfProofOptions& options)
      : executor_(executor), options_(options) {}

  void submit(Asked& asked) {
    const auto& [oracle, plan] = asked.question;
    const auto id = static_cast<std::uint64_t>(asked_.size());
    asked_.push_back(&asked);
    executor_.submit({id, plan, oracle->expand(plan, *asked.spec), options_.deadline});
  }
  void collect() {
    while (executor_.in_flight() > 0 && !(options_.stop && options_.stop()))
      if (auto done = executor_.next(std::chrono::milliseconds(50))) {
        Asked& asked = *asked_[done->id];
        const auto& [oracle, plan] = asked.question;
        asked.verdict = oracle->judge(plan, *asked.spec, done->observations);
      }
  }

 private:
  exec::Executor& executor_;
  const SelfProofOptions& options_;
  std::vector<Asked*> asked_;
};

}  // namespace

Result<SelfProof> prove(exec::Executor& executor, const oracles::Catalog& catalog,
                        const FindSpec& find_spec, const SelfProofOptions& options) {
  const auto begun = Clock::now();
  std::vector<Asked> all;
  for (const auto& proof : catalog.is_dry() ? dry_proofs() : proofs()) {
    auto asked = prepare(proof, catalog, find_spec);
    if (!asked) return tl::unexpected(asked.error());
    all.push_back(std::move(*asked));
  }
  WarmJobs warm(executor, options);
  std::vector<exec::Job> fresh;
  std::vector<Asked*> of_fresh;
  for (auto& asked : all) {
    if (!faults(*asked.proof) && executor.appetite() > 0) {
      warm.submit(asked);
      continue;
    }
    const auto& [oracle, plan] = asked.question;
    fresh.push_back({fresh.size(), plan, oracle->expand(plan, *asked.spec), options.deadline});
    of_fresh.push_back(&asked);
  }
  const auto results = executor.run_fresh(fresh);
  for (std::size_t i = 0; i < results.size(); ++i) {
    Asked& asked = *of_fresh[i];
    asked.verdict =
        asked.question.oracle->judge(asked.question.plan, *asked.spec, results[i].observations);
  }
  warm.collect();
  if (options.stop && options.stop()) return harness_error("the self-proof was interrupted");

  SelfProof out;
  for (const auto& asked : all) {
    if (auto what = problem(asked)) return harness_error(std::move(*what));
    out.caught += asked.proof->kind ? 1 : 0;
  }
  out.took = std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - begun);
  return out;
}

}  // namespace redzone::campaign
