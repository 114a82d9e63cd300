#include "bench/detection.h"

#include <fmt/format.h>

#include <algorithm>

namespace redzone::bench {
namespace {

using Clock = std::chrono::steady_clock;

// Stores findings, and detects when the first of them has been confirmed and reduced. The benchmark
// does not wait for the rest of the triage (failure rate, relevant axes).
class Recorder final : public campaign::FindingSink {
 public:
  Result<campaign::Recorded> record(const Finding& finding) override {
    findings_.push_back(finding);
    findings_.back().id = static_cast<std::int64_t>(findings_.size());
    return campaign::Recorded{findings_.back().id, true};
  }
  Result<campaign::Recorded> update(const Finding& finding) override {
    findings_[static_cast<std::size_t>(finding.id - 1)] = finding;
    return campaign::Recorded{finding.id, true};
  }
  Result<void> sighted(std::int64_t, std::int64_t) override { return {}; }
  bool settled(const Signature&) override { return false; }
  Result<void> evidence(std::int64_t id, std::string_view purpose, const Plan&,
                        const campaign::Answer&) override {
    if (purpose != "final" || reduced_at_) return {};
    reduced_ = id;
    reduced_at_ = Clock::now();
    return {};
  }

  bool done() const { return reduced_at_.has_value(); }
  // The reduced finding. Other findings may have been recorded meanwhile.
  const Finding& finding() const { return findings_[static_cast<std::size_t>(reduced_ - 1)]; }
  Clock::time_point reduced_at() const { return *reduced_at_; }

 private:
  std::vector<Finding> findings_;
  std::int64_t reduced_ = 0;
  std::optional<Clock::time_point> reduced_at_;
};

}  // namespace

Result<Detection> measure_detection(const Setup& setup, const TargetEntry& puzzle,
                                    std::uint64_t seed) {
  setup.say(fmt::format("{}, seed {}", puzzle.spec.name, seed));
  Detection out;
  out.puzzle = puzzle.spec.name;
  out.seed = seed;
  // Use a new pool each time, because earlier runs of a worker would influence the campaign.
  exec::Pool pool(setup.pool);
  RZ_TRY(pool.wait_ready(std::chrono::seconds(60)));
  Recorder recorder;
  campaign::CampaignOptions options;
  options.time = setup.effort.detection;
  options.deadline = setup.deadline;
  options.triage = setup.triage;
  options.stop = [&] { return recorder.done() || setup.stop(); };
  std::vector<campaign::TargetUnderTest> targets;
  targets.push_back({&puzzle.spec, setup.plans(puzzle.spec, seed), {}});
  campaign::Campaign campaign(pool, setup.catalog, setup.simplify, recorder, std::move(targets),
                              std::move(options));
  const auto begun = Clock::now();
  RZ_TRY_ASSIGN(const auto result, campaign.run());
  if (!recorder.done()) {
    const auto& s = result.stats;
    out.why_not = fmt::format("nothing confirmed in {:.0f} s ({} plans, {} suspects)", s.seconds,
                              s.plans, s.suspects);
    return out;
  }
  const Finding& f = recorder.finding();
  out.found = true;
  out.kind = name_of(f.signature.kind);
  out.signature = f.signature.text();
  out.plans_to_first = f.plans_to_first;
  out.seconds_to_first = f.seconds_to_first;
  // If the time ran out there was no reduction, and the two clocks were read at slightly different
  // times.
  out.seconds_to_reduced = std::max(
      out.seconds_to_first, std::chrono::duration<double>(recorder.reduced_at() - begun).count());
  out.calls = call_count(f.plan);
  out.minimal = f.minimal;
  return out;
}

Result<void> measure_all_detection(const Setup& setup, std::vector<Detection>& out) {
  const auto until = Clock::now() + setup.effort.all_detection;
  const auto puzzles = puzzles_to_find(setup);
  // Seeds are in the outer loop, so that each puzzle has been tried with one seed if time runs out.
  for (const auto seed : setup.effort.seeds)
    for (const auto* puzzle : puzzles) {
      if (setup.stop()) return {};
      if (Clock::now() >= until) {
        out.push_back({.puzzle = puzzle->spec.name,
                       .seed = seed,
                       .why_not = "not tried: the time for all puzzles was spent"});
        continue;
      }
      RZ_TRY_ASSIGN(auto measured, measure_detection(setup, *puzzle, seed));
      out.push_back(std::move(measured));
    }
  return {};
}

}  // namespace redzone::bench
