// The store: campaigns, findings and their evidence in one SQLite file.
//
// Nothing that was reported is lost: when record() or update() returns, the finding is on the disk,
// so that a killed driver or a power cut leaves it there. The progress of a campaign and evidence
// are written lazily: a killed driver loses none of it, a power cut may lose the last seconds.
//
// Errors: usage for what the user can mend (no such file or folder, not a store, a newer schema, no
// permission, an unknown id), unsound for what is damaged, harness for the rest (disk full,
// locked). Each is one line that names the file, and each leaves the file as it was. Nothing is
// thrown.
//
// Threads: one at a time. Processes: several may have the file open; writes wait for each other for
// at most OpenOptions::busy_timeout.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/campaign_record.h"
#include "core/error.h"
#include "core/finding.h"
#include "core/trial.h"
#include "core/utc.h"
#include "core/verdict.h"

namespace redzone::store {

enum class OpenMode : std::uint8_t {
  read_write_create,  // a file that does not exist or is empty becomes a new store
  read_only,          // a copy of the file at this moment; works in a read-only folder
};

struct OpenOptions {
  std::chrono::milliseconds busy_timeout{5000};
  std::int64_t max_pages = 0;  // the file may not grow past this many pages; 0: no limit
};

struct Recorded {
  std::int64_t id = 0;
  bool is_new = false;
  bool replaced = false;  // known, but this plan is smaller and is the stored one now
  FindingState state = FindingState::suspect;  // as stored after the call
};

struct Quarantined {
  std::int64_t finding = 0;
  Signature signature;
  std::string why;  // "finding 3 is quarantined: https://..."
};

// One trial kept as evidence of a finding.
struct TrialRecord {
  std::int64_t id = 0;
  std::string purpose;   // "screen", "confirm", "attribute", "reduce", "replay"
  std::string recorded;  // UTC, ISO 8601
  Plan plan;
  TrialSpec spec;
  Observation observation;  // of a long plan: only the calls around the one of the verdict
  Verdict verdict;
};

// Runs of one plan that a bisection of a finding made.
struct ProbeRecord {
  std::string plan_hash;  // 32 hex digits
  std::int64_t same = 0, other = 0, passed = 0, unjudged = 0;
  std::string said = {};  // why, of the last that was `other` or `unjudged`
  bool operator==(const ProbeRecord&) const = default;
};

// What a probe depends on beside its plan.
struct ProbeKey {
  std::int64_t finding = 0;
  std::string device;
  std::string code_hash;
};

class Database;

class Store {
 public:
  static constexpr std::size_t kTrialsPerFinding = 64;
  static constexpr std::size_t kCallsPerTrial = 128;

  static Result<Store> open(const std::filesystem::path& path, OpenMode mode,
                            const OpenOptions& options = {});
  // For reading; or, of a file that is damaged or holds no store, what is wrong with it, in one
  // line. An error says nothing of what the file holds: it cannot be read, or is of a newer build.
  static Result<std::variant<Store, std::string>> examine(const std::filesystem::path& path,
                                                          const OpenOptions& options = {});
  Store(Store&&) noexcept;
  Store& operator=(Store&&) noexcept;
  ~Store();

  // The present, as utc_now_us(); or just behind the latest entry and night of the store, where a
  // clock that was ahead made these: what happens now is always later than what is stored.
  Result<std::string> moment();

  // An empty `started` becomes now. Gives the id; `campaign.id` and `campaign.uid` are not looked
  // at. What is seen from here on is counted for it.
  Result<std::int64_t> begin_campaign(const CampaignRecord& campaign);
  Result<CampaignRecord> campaign(std::int64_t id);  // a usage error where there is none
  // What is seen from here on is counted for this one, which was begun before.
  Result<CampaignRecord> resume_campaign(std::int64_t id);
  Result<void> update_campaign(std::int64_t id, const CampaignStats& stats);
  Result<void> end_campaign(std::int64_t id, const CampaignStats& stats);
  Result<std::vector<CampaignRecord>> campaigns();  // by id

  // A new signature is inserted as it is (`id` is not looked at, empty times become now). A known
  // one counts one more occurrence; its plan, and all that describes it, gives way only to a plan
  // with fewer calls, or as many calls and a shorter text, whose state is as good or better
  // (confirmed > flaky > suspect > unconfirmed).
  Result<Recorded> record(const Finding& finding);
  // Writes what confirming, attributing and reducing changed of finding `finding.id`: state,
  // oracle, reason, plan, original, minimal, reduction, needs_history, reliability, attribution,
  // culprits, fault_detail and environment. The signature must be the stored one; where and how
  // often it was seen is record()'s.
  Result<void> update(const Finding& finding);

  // What triage made of finding `finding.id`: as update(), but its signature may have become
  // another. `own`: the row was made for this suspect, so it is renamed; or, when another finding
  // has that signature already, the two become one: the other gains the occurrences and the
  // evidence, and its id is given. A row that is not its own, or is gone (another process merged
  // it), is left alone: the signature gets a row of its own, or one more occurrence of the row that
  // it has. A stored plan that is better (a better state, or as good and smaller, or minimal where
  // this one is not) stays, with all that describes it; a stored suspect never does. What is
  // confirmed or flaky is entered into its ledger as failed. `is_new`: the signature had no finding
  // but suspects and unconfirmed ones before, and nobody has waived it; or it was fixed, and is not
  // now.
  Result<Recorded> settle(const Finding& finding, bool own = true);
  // `plans` more plans that showed the finding; one that was merged away meanwhile is passed over.
  Result<void> sighted(std::int64_t finding, std::int64_t plans);

  // Evidence; the latest kTrialsPerFinding of a finding are kept.
  Result<void> add_trial(std::int64_t finding, std::string_view purpose, const Plan& plan,
                         const TrialSpec& spec, const Observation& observation,
                         const Verdict& verdict);
  // Replaces the artifact of the same kind and name.
  Result<void> add_artifact(std::int64_t finding, std::string_view kind, std::string_view name,
                            std::string_view bytes);

  // Adds these runs to those of the plan.
  Result<void> add_probe(const ProbeKey& key, const Plan& plan, const ProbeRecord& runs);
  Result<std::vector<ProbeRecord>> probes(const ProbeKey& key);  // by plan hash
  // Enters what a person (see check_mark) or a replay says. An empty `at` becomes now. Gives the
  // ledger then. Now is moment(), as far as this finding and the campaign at hand go.
  Result<Ledger> mark(std::int64_t finding, const LedgerEntry& entry);
  Result<Ledger> enter(std::int64_t finding, LedgerEntry entry);
  Result<std::vector<LedgerEntry>> entries(std::int64_t finding);          // oldest first
  Result<std::map<std::int64_t, std::vector<LedgerEntry>>> all_entries();  // by finding
  // What is never to be launched; cheap.
  Result<std::vector<Quarantined>> quarantined();

  Result<std::vector<Finding>> findings();  // by id
  Result<Finding> finding(std::int64_t id);
  Result<std::optional<Finding>> find(const Signature& signature);
  Result<std::vector<TrialRecord>> trials(std::int64_t finding);  // oldest first
  Result<std::vector<Artifact>> artifacts(std::int64_t finding);  // by kind and name

  // For the other parts of the store.
  Database& database() { return *database_; }

 private:
  explicit Store(std::unique_ptr<Database> database);
  Recorded settle_row(const Finding& finding, bool own);
  void enter_failure(std::int64_t finding);
  std::string moment_of(std::span<const LedgerEntry> entries) const;

  std::unique_ptr<Database> database_;
  std::string campaign_;  // the uid of the campaign at hand
  std::string began_;     // when it began, or went on here; "" without one
};

}  // namespace redzone::store
