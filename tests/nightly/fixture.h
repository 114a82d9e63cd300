// Nights in this process: with an executor without processes, on a store in a file, and with a
// simulated clock that only trials and self-proofs advance.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "campaign/counted_plans.h"
#include "campaign/fakes.h"
#include "nightly/job.h"
#include "store/sample.h"

namespace redzone::nightly::testing {

using namespace campaign::testing;
using namespace store::testing;
// For the tests that include this.
using redzone::testing::ended;    // NOLINT(misc-unused-using-decls)
using redzone::testing::faulted;  // NOLINT(misc-unused-using-decls)
using report::NightFinding;

// Calls above this size end with `observation`; the others are correct.
inline Bug above(std::int64_t limit, Observation observation) {
  return [limit, observation](const Plan& plan, const TrialSpec& trial, const std::vector<Call>&) {
    for (const auto& [index, call] : calls_of_trial(plan, trial))
      if (get(call.dims, "N") > limit) return observation;
    return all_right(plan, trial);
  };
}

inline const Bug kNoBug = above(4096, {});

class NightTest : public ::testing::Test {
 protected:
  static constexpr std::chrono::milliseconds kTrial{40};
  static constexpr std::chrono::seconds kProof{3};

  struct Told {
    int code = -1;  // the exit code; -1: an error
    std::string error;
    report::Night night;
    std::vector<std::string> notes;

    const NightFinding* of(const std::string& buffer) const {
      for (const auto& f : night.findings)
        if (f.buffer == buffer) return &f;
      return nullptr;
    }
    std::string gap(const std::string& what) const {
      for (const auto& g : night.not_judged)
        if (g.what == what) return g.why;
      return "";
    }
  };

  NightTest() { options_.plans = 20; }

  // Runs a night as one process would, configured by the members below.
  Told night() {
    FakeExecutor executor(
        [this](const Plan& plan, const TrialSpec& trial, const std::vector<Call>& before) {
          ++trials_;
          now_ += kTrial;
          Observation o = bug_(plan, trial, before);
          o.wall_us = std::chrono::microseconds(kTrial).count();
          if (during_) during_();
          return o;
        });
    Registry registry;
    for (const auto& name : targets_) {
      TargetEntry entry;
      entry.spec = small_spec();
      entry.spec.name = name;
      entry.code_hash = code_;
      must(registry.add(std::move(entry)));
    }
    exec::Hello worker;
    worker.device = device_;
    const engine::Site site(DeviceKind::host, registry, catalog_, worker, {});
    engine::Selection selection;
    for (const auto& entry : registry.entries())
      if (selected_.empty() || selected_.contains(entry.spec.name))
        selection.targets.push_back(&entry);
    selection.skipped = skipped_;
    Told told;
    store::Store store = open_rw(dir_ / "s.db");
    trials_ = 0;
    auto code = run_job(means(executor, site, told), store, selection, options_, job(told));
    if (code)
      told.code = *code;
    else
      told.error = code.error().message;
    return told;
  }

  store::Store store() { return open_rw(dir_ / "s.db"); }
  std::vector<store::NightReplay> replays(std::int64_t campaign) {
    store::Store s = store();
    return must(store::NightBook(s).replays(campaign));
  }
  store::NightRun last_run() {
    store::Store s = store();
    return must(store::NightBook(s).runs()).back();
  }
  void mark(std::int64_t finding, LedgerEvent event) {
    store::Store s = store();
    must(s.mark(finding, {"", event, "https://example.com/1", ""}));
  }
  // A plan of --corpus: one call of this size.
  static CorpusPlan corpus_plan(const std::string& name, std::int64_t size) {
    return {.name = name,
            .file = "corpus/" + name,
            .repro = {.plan = plain_plan({call_of(size, 16)}), .oracle = "", .signature = {}},
            .problem = ""};
  }
  // Interrupts the next night, as a user would, in its n-th trial.
  void interrupt_at(std::uint64_t trial) { interrupt_at_ = trial; }

  std::vector<std::string> targets_{"t"};
  std::set<std::string> selected_;  // selected targets; empty: all
  std::vector<engine::Skipped> skipped_;
  Bug bug_ = kNoBug;
  std::string code_ = "first build", device_ = "host";
  std::int64_t first_size_ = 0;  // size of the first generated plan, less one
  NightlyOptions options_;
  std::string self_proof_;  // why it fails; "" when it does not
  double days_later_ = 0;   // added to the calendar time
  std::optional<std::filesystem::path> report_;
  std::function<void()> during_;  // called in each trial
  std::uint64_t trials_ = 0;      // of the latest night
  std::vector<std::uint64_t> seeds_;
  std::chrono::steady_clock::time_point now_{};
  TempDir dir_;

 private:
  Means means(FakeExecutor& executor, const engine::Site& site, Told& told) {
    Means means{.executor = executor, .site = site};
    means.deadline = std::chrono::seconds(1);
    means.prove = [this]() -> Result<campaign::SelfProof> {
      now_ += kProof;
      if (!self_proof_.empty()) return harness_error(self_proof_);
      return campaign::SelfProof{.caught = 18, .took = kProof};
    };
    means.plans = [this](const TargetSpec& spec, std::uint64_t seed) {
      seeds_.push_back(seed);
      return std::make_unique<CountedPlans>(spec.name, first_size_);
    };
    means.simplify = real_simplify();
    means.fuzzing = [](std::chrono::milliseconds time, std::uint64_t plans) {
      campaign::CampaignOptions options;
      options.time = time;
      options.plans_per_target = plans;
      options.deadline = std::chrono::seconds(1);
      options.triage.reduce_time = std::chrono::hours(1);
      options.triage.reduce_evaluations = 60;
      return options;
    };
    means.interrupted = [this] { return interrupt_at_ && trials_ >= *interrupt_at_; };
    means.clock = {.now = [this] { return now_; },
                   .days_ago = [this](double days) { return utc_days_ago(days - days_later_); }};
    means.note = [&told](const std::string& line) { told.notes.push_back(line); };
    return means;
  }
  JobOptions job(Told& told) const {
    return {.db = "", .report = report_, .print = [&told](const report::Night& night) {
              told.night = night;
            }};
  }

  oracles::Catalog catalog_;
  std::optional<std::uint64_t> interrupt_at_;

 protected:
  void go_on() { interrupt_at_.reset(); }
};

}  // namespace redzone::nightly::testing
