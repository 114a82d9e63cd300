// Runs further experiments on a stored finding: opens its target, workers, and a prober whose runs
// are stored.
#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "bisect/axes.h"
#include "bisect/evaluator_runner.h"
#include "bisect/prober.h"
#include "engine/rerun.h"
#include "oracles/catalog.h"
#include "store/store.h"

namespace redzone::engine {

// The axes worth probing for a finding of this oracle.
bisect::AxesOptions axes_asked(const oracles::Catalog& catalog, std::string_view oracle);

class Probing {
 public:
  // `until`: the time limit. If the finding cannot be judged here, `not_judged()` gives the reason
  // and there is no prober. The store is opened for writing only after that check.
  static Result<std::unique_ptr<Probing>> open(const EngineOptions& options, Finding finding,
                                               const std::filesystem::path& db,
                                               std::chrono::steady_clock::time_point until);

  const std::string& not_judged() const { return rerun_.not_judged; }
  // How the loaded target differs from the finding's target; "" if it does not differ.
  const std::string& other_code() const { return rerun_.other_code; }
  const Finding& finding() const { return finding_; }
  const TargetSpec& spec() const { return rerun_.entry->spec; }
  bisect::Prober& prober() { return *prober_; }
  bisect::AxesOptions axes() const;
  // Stores the first failure with another signature as a separate finding; empty if there was none
  // that counts as an alarm of its own (see campaign::is_own_alarm()).
  Result<std::optional<Finding>> store_other();

 private:
  Probing() = default;
  Result<void> make_prober(std::chrono::steady_clock::time_point until);

  Finding finding_;
  Rerun rerun_;
  std::function<bool()> interrupted_;
  std::optional<store::Store> store_;
  std::unique_ptr<campaign::Evaluator> evaluator_;
  std::unique_ptr<bisect::EvaluatorRunner> runner_;
  std::unique_ptr<bisect::Prober> prober_;
};

}  // namespace redzone::engine
