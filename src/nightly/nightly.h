// One night: a self-proof, then replays of what is known, then fuzzing for the rest of the time.
// Each step is stored when it is done, so that a night that was cut off continues from there.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "campaign/campaign.h"
#include "campaign/shard.h"
#include "core/campaign_record.h"
#include "engine/quarantine_watch.h"
#include "engine/selection.h"
#include "nightly/corpus.h"
#include "nightly/means.h"
#include "store/night.h"

namespace redzone::nightly {

struct NightlyOptions {
  // Share of the whole time for replays; fuzzing gets the rest and the time that replays do not
  // use.
  static constexpr double kReplayShare = 0.3;
  // A night that was cut off is continued only if it began less than this long ago; otherwise a new
  // night starts. Shards of a fleet are continued at any time, whenever the cluster has a node.
  static constexpr double kResumeDays = 20.0 / 24;

  campaign::Shard shard;
  std::string fleet = {};             // uid of the fleet that the shard belongs to; "" if none
  std::chrono::milliseconds time{0};  // 0: no limit
  std::uint64_t plans = 0;            // limit on plans of the fuzzing per target; 0: no limit
  std::optional<std::uint64_t> seed;  // for all shards; absent: derived from the time
  std::string command, commit;
  std::vector<CorpusPlan> corpus;
};

class Nightly {
 public:
  // All arguments are borrowed.
  Nightly(const Means& means, store::Store& store, const engine::Selection& selection,
          const NightlyOptions& options);

  // A night that is ended by Ctrl-C stays unfinished and is continued the next time. A night that
  // is ended by a device that no longer answers stores that as its problem. Returned errors are
  // errors of the store: results stored before remain, and the night is continued the next time.
  Result<void> run();
  // Number of the night's campaign; 0 if the campaign could not be stored.
  std::int64_t campaign() const { return run_.campaign; }
  // Marks the night as finished. `exit_code` must not be kInterrupted.
  Result<void> close(int exit_code);

 private:
  Result<void> begin();
  // Continues the latest night that was cut off and had the same settings; returns true if there
  // was one. Its time and its number of plans may differ. A night with other settings is left for a
  // later run with those settings.
  Result<bool> resume();
  // How the settings of this night differ from those of `run`; "" if they do not differ.
  std::string difference(const store::NightRun& run, const std::string& device) const;
  Result<void> prove();
  Result<void> replay();
  Result<void> fuzz();
  struct Fuzzing;  // targets and their shares
  void add_targets(Fuzzing& fuzzing);
  Result<void> tell_skipped();
  Result<std::vector<double>> shares();
  // Stores the sums of the earlier parts of the night and of this part so far.
  Result<void> keep(const std::vector<campaign::TargetStats>& now, const CampaignStats& stats);
  double seconds_used() const;
  bool interrupted() const { return means_.interrupted(); }
  bool goes_on() const;

  const Means& means_;
  store::Store& store_;
  store::NightBook book_;
  const engine::Selection& selection_;
  const NightlyOptions& options_;
  store::NightRun run_;
  CampaignRecord campaign_;                  // includes earlier parts of the night
  std::vector<store::NightTarget> targets_;  // also includes earlier parts; in the order of the
                                             // selection
  double fuzzed_before_ = 0;
  engine::QuarantineWatch quarantines_;
};

}  // namespace redzone::nightly
