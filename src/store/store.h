// The store: campaigns, findings and their evidence in one SQLite file.
//
// Reported findings are durable: when record() or update() returns, the finding is on the disk and
// survives a killed driver or a power cut. The progress of a campaign and evidence are written
// lazily: they survive a killed driver, but a power cut may lose the last seconds.
//
// Errors: usage for what the user can correct (no such file or folder, not a store, a newer schema,
// no permission, an unknown id), unsound for damage, harness for other errors (disk full, locked).
// Each is one line that names the file, and leaves the file unchanged. Nothing is thrown.
//
// Threads: one at a time. Processes: several may have the file open; a write waits for the others
// for at most OpenOptions::busy_timeout.
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
  read_only,          // a snapshot of the file; works in a read-only folder
};

struct OpenOptions {
  std::chrono::milliseconds busy_timeout{5000};
  std::int64_t max_pages = 0;  // maximum size of the file in pages; 0: kMostReadBytes
};

struct Recorded {
  std::int64_t id = 0;
  bool is_new = false;
  bool replaced = false;  // the signature was known, but this finding has replaced the stored plan
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
  Observation observation;  // of a long plan: only the calls around the verdict's call
  Verdict verdict;
};

// Runs of one plan during the bisection of a finding.
struct ProbeRecord {
  std::string plan_hash;  // 32 hex digits
  std::int64_t same = 0, other = 0, passed = 0, unjudged = 0;
  std::string said = {};  // reason of the last run that was `other` or `unjudged`
  bool operator==(const ProbeRecord&) const = default;
};

// Identifies runs of a bisection, together with the plan.
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
  // Opens for reading. If the file is damaged or not a store, returns a description of the problem
  // in one line. An error means that the contents are unknown: unreadable, or written by a newer
  // build.
  static Result<std::variant<Store, std::string>> examine(const std::filesystem::path& path,
                                                          const OpenOptions& options = {});
  Store(Store&&) noexcept;
  Store& operator=(Store&&) noexcept;
  ~Store();

  // The current time, in the format of utc_now_us(), or just after the latest entry and night of
  // the store if a clock that was ahead made these: new events always sort after stored ones.
  Result<std::string> moment();

  // Begins a campaign and returns its id. An empty `started` is set to the current time;
  // `campaign.id` and `campaign.uid` are ignored. Later occurrences are counted for this campaign.
  Result<std::int64_t> begin_campaign(const CampaignRecord& campaign);
  Result<CampaignRecord> campaign(std::int64_t id);  // usage error: unknown id
  // Makes an existing campaign the current one, for which later occurrences are counted.
  Result<CampaignRecord> resume_campaign(std::int64_t id);
  // Resumes the campaign with this uid, which another command may have begun in any store; begins
  // it if this store does not have it.
  Result<CampaignRecord> join_campaign(const CampaignRecord& campaign);
  Result<void> update_campaign(std::int64_t id, const CampaignStats& stats);
  Result<void> end_campaign(std::int64_t id, const CampaignStats& stats);
  Result<std::vector<CampaignRecord>> campaigns();  // ordered by id

  // Inserts a new signature as given (`id` is ignored, empty times are set to the current time).
  // For a known signature, counts one more occurrence. Its plan, with all members that describe it,
  // is replaced only by a plan with fewer calls, or as many calls and a shorter text, whose state
  // is as good or better (confirmed > flaky > suspect > unconfirmed). A stored finding that did not
  // recur is replaced by any that is seen again, so that it is a suspect until it is confirmed or
  // again does not recur.
  Result<Recorded> record(const Finding& finding);
  // Writes the members of finding `finding.id` that confirming, attributing and reducing change:
  // state, oracle, reason, plan, original, minimal, reduction, needs_history, reliability,
  // attribution, fault_attributions, fault_detail, environment and origin. The signature must be
  // the stored one. Does not write occurrences.
  Result<void> update(const Finding& finding);

  // Writes the result of triage for finding `finding.id`: like update(), but the signature may have
  // changed.
  //
  // `own`: the row was created for this suspect. The row is renamed; if another finding already has
  // the new signature, that finding receives the occurrences and the evidence, the row is removed,
  // and the other id is returned. Without `own`, or if the row no longer exists (another process
  // merged it), no row is renamed: the signature gets a new row, or its existing row counts one
  // more occurrence.
  //
  // A better stored plan (core/repro_worth.h) is kept, with all members that describe it, unless
  // the stored finding is a suspect. For a confirmed or flaky finding a failure is entered into its
  // ledger.
  //
  // `is_new` of the result is true if the signature had only suspect or unconfirmed findings before
  // and was not waived, or if it was fixed before and is not now.
  Result<Recorded> settle(const Finding& finding, bool own = true);
  // Counts `plans` more plans that showed the finding; ignores a finding that was merged into
  // another.
  Result<void> sighted(std::int64_t finding, std::int64_t plans);
  // Number of plans of the current campaign that have shown the finding so far.
  Result<std::int64_t> occurrences(std::int64_t finding);

  // Adds evidence; only the latest kTrialsPerFinding trials of a finding are kept.
  Result<void> add_trial(std::int64_t finding, std::string_view purpose, const Plan& plan,
                         const TrialSpec& spec, const Observation& observation,
                         const Verdict& verdict);
  // Replaces the artifact of the same kind and name.
  Result<void> add_artifact(std::int64_t finding, std::string_view kind, std::string_view name,
                            std::string_view bytes);

  // Adds these runs to the stored runs of the plan.
  Result<void> add_probe(const ProbeKey& key, const Plan& plan, const ProbeRecord& runs);
  Result<std::vector<ProbeRecord>> probes(const ProbeKey& key);  // ordered by plan hash
  // mark() adds an entry of a user (see check_mark), enter() one of a replay. An empty `at` is set
  // to the current time, but after the finding's other entries and the start of the campaign. Both
  // return the resulting ledger.
  Result<Ledger> mark(std::int64_t finding, const LedgerEntry& entry);
  Result<Ledger> enter(std::int64_t finding, LedgerEntry entry);
  Result<std::vector<LedgerEntry>> entries(std::int64_t finding);          // oldest first
  Result<std::map<std::int64_t, std::vector<LedgerEntry>>> all_entries();  // by finding
  // Findings that must never be launched. Inexpensive.
  Result<std::vector<Quarantined>> quarantined();

  Result<std::vector<Finding>> findings();  // ordered by id
  Result<Finding> finding(std::int64_t id);
  Result<std::optional<Finding>> find(const Signature& signature);
  Result<std::vector<TrialRecord>> trials(std::int64_t finding);  // oldest first
  Result<std::vector<Artifact>> artifacts(std::int64_t finding);  // ordered by kind and name

  // For other files of src/store.
  Database& database() { return *database_; }

 private:
  explicit Store(std::unique_ptr<Database> database);
  Result<std::int64_t> begin_named(CampaignRecord started);
  Recorded settle_row(const Finding& finding, bool own);
  void enter_failure(std::int64_t finding);
  std::string moment_of(std::span<const LedgerEntry> entries) const;

  std::unique_ptr<Database> database_;
  std::string campaign_;  // uid of the current campaign
  std::string began_;     // when the campaign began or was resumed here; "" without a campaign
};

}  // namespace redzone::store
