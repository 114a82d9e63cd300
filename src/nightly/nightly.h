// One night: a self-proof, then what is known once more, then fuzzing for the rest of the time.
// Each step is in the store when it is done, so that a night that was cut off goes on where it was.
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
  // Of the whole time, for replays; the rest, and what they leave, is for fuzzing.
  static constexpr double kReplayShare = 0.3;
  // A night that was cut off longer ago than this is not continued: it is another night's turn.
  static constexpr double kResumeDays = 20.0 / 24;

  campaign::Shard shard;
  std::chrono::milliseconds time{0};  // 0: no limit
  std::uint64_t plans = 0;            // of the fuzzing, for each target; 0: no limit
  std::optional<std::uint64_t> seed;  // of all shards; drawn from the time when it is absent
  std::string command, commit;
  std::vector<CorpusPlan> corpus;
};

class Nightly {
 public:
  // All borrowed.
  Nightly(const Means& means, store::Store& store, const engine::Selection& selection,
          const NightlyOptions& options);

  // Ended early by Ctrl-C it is unfinished, and continued the next time; ended early by a device
  // that no longer answers it says so in the book. Errors are the store's: what it holds until then
  // stays, and is continued the next time, too.
  Result<void> run();
  // Of the night; 0 where not even that could be stored.
  std::int64_t campaign() const { return run_.campaign; }
  // Closes the book on the night. `exit_code` is not kInterrupted.
  Result<void> close(int exit_code);

 private:
  Result<void> begin();
  // The latest night that was cut off and asked for the same; true: there was one. Its time, and
  // how many plans it fuzzes with, may be other ones. A night that asked for something else stays
  // as it is, for whoever asks for that again.
  Result<bool> resume();
  // What this night asks for and that one did not; "" when nothing.
  std::string difference(const store::NightRun& run, const std::string& device) const;
  Result<void> prove();
  Result<void> replay();
  Result<void> fuzz();
  struct Fuzzing;  // targets and their shares
  void add_targets(Fuzzing& fuzzing);
  Result<void> tell_skipped();
  Result<std::vector<double>> shares();
  // What the part of the night before did, and this one so far.
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
  CampaignRecord campaign_;                  // with what the parts before did
  std::vector<store::NightTarget> targets_;  // the same, in the order of the selection
  double fuzzed_before_ = 0;
  engine::QuarantineWatch quarantines_;
};

}  // namespace redzone::nightly
