// What the commands share that ask a stored finding further questions: its target, workers, and a
// prober whose runs go to the store.
#pragma once

#include "bisect/axes.h"
#include "bisect/evaluator_runner.h"
#include "bisect/prober.h"
#include "cli/session.h"
#include "store/store.h"

namespace redzone::cli {

// --id, --time, and what such a command has in common with replay.
void add_probing_flags(po::options_description& flags, po::positional_options_description& words);

// When --time will be over.
Result<std::chrono::steady_clock::time_point> end_of_time(const po::variables_map& flags);

class Probing {
 public:
  // Loads the finding and opens a session for it. Where it cannot be judged here, `not_judged()`
  // says why and there is no prober. With `build`, a plugin or the folder of a package, that is all
  // that is loaded. `until`: when its time is up.
  static Result<std::unique_ptr<Probing>> open(
      const po::variables_map& flags, std::chrono::steady_clock::time_point until,
      const std::optional<std::filesystem::path>& build = {});

  const std::string& not_judged() const { return not_judged_; }
  const Finding& finding() const { return finding_; }
  const TargetSpec& spec() const { return entry_->spec; }
  bisect::Prober& prober() { return *prober_; }
  bisect::AxesOptions axes() const;
  // Stores the first failure that was met with another signature as a finding of its own; nothing
  // where there was none.
  Result<std::optional<Finding>> store_other();

 private:
  Probing() = default;
  Result<void> make_prober(std::chrono::steady_clock::time_point until);

  Finding finding_;
  std::unique_ptr<Session> session_;
  const TargetEntry* entry_ = nullptr;
  std::string not_judged_;
  std::optional<store::Store> store_;
  std::unique_ptr<campaign::Evaluator> evaluator_;
  std::unique_ptr<bisect::EvaluatorRunner> runner_;
  std::unique_ptr<bisect::Prober> prober_;
};

// A prober's memory of what is stored under the key, and what adds to it.
Result<bisect::Memory> stored_runs(store::Store& store, const store::ProbeKey& key);
bisect::Record store_runs(store::Store& store, store::ProbeKey key);

}  // namespace redzone::cli
