#include "store/schema.h"

#include <array>

namespace redzone::store {
namespace {

// Unsigned 64-bit numbers are stored as the signed numbers with the same bits. Enumerators are
// stored by name, times as ISO 8601 in UTC, plans as their canonical text. `location` is
// Signature::where (`where` is a keyword of SQL).
constexpr std::string_view kVersion1 = R"sql(
CREATE TABLE campaigns (
  id             INTEGER PRIMARY KEY AUTOINCREMENT,
  seed           INTEGER NOT NULL,
  device         TEXT NOT NULL,
  command        TEXT NOT NULL,
  started        TEXT NOT NULL,
  ended          TEXT NOT NULL,
  seconds        REAL NOT NULL,
  plans          INTEGER NOT NULL,
  calls          INTEGER NOT NULL,
  trials         INTEGER NOT NULL,
  pass           INTEGER NOT NULL,
  fail           INTEGER NOT NULL,
  inconclusive   INTEGER NOT NULL,
  not_applicable INTEGER NOT NULL,
  harness_errors INTEGER NOT NULL,
  suspects       INTEGER NOT NULL,
  new_findings   INTEGER NOT NULL,
  known_findings INTEGER NOT NULL,
  workers_lost   INTEGER NOT NULL
);
CREATE TABLE environments (
  id                 INTEGER PRIMARY KEY,
  device             TEXT NOT NULL,
  driver             TEXT NOT NULL,
  compute_capability INTEGER NOT NULL,
  toolkit            TEXT NOT NULL,
  nvrtc              TEXT NOT NULL,
  host               TEXT NOT NULL,
  code_hash          TEXT NOT NULL,
  redzone_version    TEXT NOT NULL,
  UNIQUE (device, driver, compute_capability, toolkit, nvrtc, host, code_hash, redzone_version)
);
CREATE TABLE plans (
  id   INTEGER PRIMARY KEY,
  hash TEXT NOT NULL UNIQUE,
  text TEXT NOT NULL
);
CREATE TABLE findings (
  id               INTEGER PRIMARY KEY AUTOINCREMENT,
  signature_hash   TEXT NOT NULL UNIQUE,
  kind             TEXT NOT NULL,
  target           TEXT NOT NULL,
  location         TEXT NOT NULL,
  buffer           TEXT NOT NULL,
  side             TEXT NOT NULL,
  access           TEXT NOT NULL,
  state            TEXT NOT NULL,
  oracle           TEXT NOT NULL,
  reason           TEXT NOT NULL,
  plan_id          INTEGER NOT NULL REFERENCES plans (id),
  original_id      INTEGER NOT NULL REFERENCES plans (id),
  minimal          INTEGER NOT NULL,
  needs_history    INTEGER NOT NULL,
  failed_runs      INTEGER NOT NULL,
  runs             INTEGER NOT NULL,
  fault_detail     TEXT NOT NULL,
  environment_id   INTEGER NOT NULL REFERENCES environments (id),
  campaign_id      INTEGER REFERENCES campaigns (id),
  plans_to_first   INTEGER NOT NULL,
  seconds_to_first REAL NOT NULL,
  sightings        INTEGER NOT NULL,
  first_seen       TEXT NOT NULL,
  last_seen        TEXT NOT NULL
);
CREATE INDEX findings_plan ON findings (plan_id);
CREATE INDEX findings_original ON findings (original_id);
CREATE TABLE attributions (
  finding_id  INTEGER NOT NULL REFERENCES findings (id),
  position    INTEGER NOT NULL,
  axis        TEXT NOT NULL,
  value       TEXT NOT NULL,
  failed_runs INTEGER NOT NULL,
  runs        INTEGER NOT NULL,
  PRIMARY KEY (finding_id, position)
) WITHOUT ROWID;
CREATE TABLE trials (
  id            INTEGER PRIMARY KEY AUTOINCREMENT,
  finding_id    INTEGER NOT NULL REFERENCES findings (id),
  purpose       TEXT NOT NULL,
  recorded      TEXT NOT NULL,
  plan_id       INTEGER NOT NULL REFERENCES plans (id),
  launch        TEXT NOT NULL,
  allocator     TEXT NOT NULL,
  placement     TEXT NOT NULL,
  poison        INTEGER NOT NULL,
  schedule_seed INTEGER NOT NULL,
  call_order    TEXT NOT NULL,
  reference     INTEGER NOT NULL,
  end_of_trial  TEXT NOT NULL,
  wall_us       INTEGER NOT NULL,
  observation   TEXT NOT NULL,
  outcome       TEXT NOT NULL,
  oracle        TEXT NOT NULL,
  reason        TEXT NOT NULL,
  kind          TEXT NOT NULL,
  target        TEXT NOT NULL,
  location      TEXT NOT NULL,
  buffer        TEXT NOT NULL,
  side          TEXT NOT NULL,
  access        TEXT NOT NULL,
  call          INTEGER NOT NULL
);
CREATE INDEX trials_finding ON trials (finding_id);
CREATE INDEX trials_plan ON trials (plan_id);
CREATE TABLE artifacts (
  id         INTEGER PRIMARY KEY,
  finding_id INTEGER NOT NULL REFERENCES findings (id),
  kind       TEXT NOT NULL,
  name       TEXT NOT NULL,
  added      TEXT NOT NULL,
  bytes      BLOB NOT NULL,
  UNIQUE (finding_id, kind, name)
);
)sql";

constexpr std::string_view kVersion2 = R"sql(
CREATE TABLE culprits (
  finding_id INTEGER NOT NULL REFERENCES findings (id),
  position   INTEGER NOT NULL,
  source     TEXT NOT NULL,
  call       INTEGER NOT NULL,
  kernel     TEXT NOT NULL,
  access     TEXT NOT NULL,
  buffer     TEXT NOT NULL,
  side       TEXT NOT NULL,
  location   TEXT NOT NULL,
  detail     TEXT NOT NULL,
  PRIMARY KEY (finding_id, position)
) WITHOUT ROWID;
)sql";

constexpr std::string_view kVersion3 = R"sql(
ALTER TABLE trials ADD COLUMN sanitizer TEXT NOT NULL DEFAULT 'none';
)sql";

// The pool policy of trials with the allocator `pool`.
constexpr std::string_view kVersion4 = R"sql(
ALTER TABLE trials ADD COLUMN pool_follow_events INTEGER NOT NULL DEFAULT 1;
ALTER TABLE trials ADD COLUMN pool_opportunistic INTEGER NOT NULL DEFAULT 1;
ALTER TABLE trials ADD COLUMN pool_internal INTEGER NOT NULL DEFAULT 1;
ALTER TABLE trials ADD COLUMN pool_threshold_bytes INTEGER NOT NULL DEFAULT 0;
)sql";

// Runs of a plan by a bisection, with the code of that hash. `passed`: judged, no failure.
constexpr std::string_view kVersion5 = R"sql(
CREATE TABLE probes (
  finding_id  INTEGER NOT NULL REFERENCES findings (id),
  plan_id     INTEGER NOT NULL REFERENCES plans (id),
  device      TEXT NOT NULL,
  code_hash   TEXT NOT NULL,
  failed_runs INTEGER NOT NULL,
  otherwise   INTEGER NOT NULL,
  passed      INTEGER NOT NULL,
  unjudged    INTEGER NOT NULL,
  said        TEXT NOT NULL,
  last_run    TEXT NOT NULL,
  PRIMARY KEY (finding_id, plan_id, device, code_hash)
) WITHOUT ROWID;
CREATE INDEX probes_plan ON probes (plan_id);
)sql";

// Makes stores mergeable: a campaign has a globally unique name, and counts are kept by campaign.
// Marks by users and results of later runs of a finding are entries of its ledger. A night is a
// campaign with a divided budget; `subject` of a replay is the hash of a signature, or the name of
// a plan file.
constexpr std::string_view kVersion6 = R"sql(
ALTER TABLE campaigns ADD COLUMN uid TEXT NOT NULL DEFAULT '';
UPDATE campaigns SET uid = printf('%d-%s-%x', id, started, seed);
CREATE UNIQUE INDEX campaigns_uid ON campaigns (uid);
CREATE TABLE sightings (
  finding_id INTEGER NOT NULL REFERENCES findings (id),
  campaign   TEXT NOT NULL,
  plans      INTEGER NOT NULL,
  PRIMARY KEY (finding_id, campaign)
) WITHOUT ROWID;
INSERT INTO sightings SELECT f.id, ifnull(c.uid, ''), f.sightings
  FROM findings f LEFT JOIN campaigns c ON c.id = f.campaign_id;
CREATE TABLE ledger (
  finding_id INTEGER NOT NULL REFERENCES findings (id),
  at         TEXT NOT NULL,
  event      TEXT NOT NULL,
  link       TEXT NOT NULL,
  note       TEXT NOT NULL,
  PRIMARY KEY (finding_id, at, event, link, note)
) WITHOUT ROWID;
CREATE TABLE nights (
  campaign_id         INTEGER PRIMARY KEY REFERENCES campaigns (id),
  began               TEXT NOT NULL,
  base_seed           INTEGER NOT NULL,
  shard               INTEGER NOT NULL,
  shards              INTEGER NOT NULL,
  build_commit        TEXT NOT NULL,
  tool_version        TEXT NOT NULL,
  driver              TEXT NOT NULL,
  toolkit             TEXT NOT NULL,
  host                TEXT NOT NULL,
  budget_seconds      REAL NOT NULL,
  proof_seconds       REAL NOT NULL,
  replay_seconds      REAL NOT NULL,
  fuzz_seconds        REAL NOT NULL,
  planted_bugs_caught INTEGER NOT NULL,
  resumed             INTEGER NOT NULL,
  problem             TEXT NOT NULL,
  exit_code           INTEGER NOT NULL
);
CREATE TABLE night_targets (
  campaign_id    INTEGER NOT NULL REFERENCES campaigns (id),
  target         TEXT NOT NULL,
  plans          INTEGER NOT NULL,
  calls          INTEGER NOT NULL,
  pass           INTEGER NOT NULL,
  fail           INTEGER NOT NULL,
  inconclusive   INTEGER NOT NULL,
  not_applicable INTEGER NOT NULL,
  harness_errors INTEGER NOT NULL,
  device_seconds REAL NOT NULL,
  share          REAL NOT NULL,
  not_fuzzed     TEXT NOT NULL,
  PRIMARY KEY (campaign_id, target)
) WITHOUT ROWID;
CREATE TABLE night_replays (
  campaign_id    INTEGER NOT NULL REFERENCES campaigns (id),
  subject        TEXT NOT NULL,
  finding_id     INTEGER REFERENCES findings (id),
  target         TEXT NOT NULL,
  expected       TEXT NOT NULL,
  tonight        TEXT NOT NULL,
  failed_runs    INTEGER NOT NULL,
  runs           INTEGER NOT NULL,
  reason         TEXT NOT NULL,
  device_seconds REAL NOT NULL,
  PRIMARY KEY (campaign_id, subject)
) WITHOUT ROWID;
CREATE INDEX night_replays_finding ON night_replays (finding_id);
)sql";

// Targets and corpus that a night was requested for, so that a night with other arguments does not
// resume it.
constexpr std::string_view kVersion7 = R"sql(
ALTER TABLE nights ADD COLUMN asked_targets TEXT NOT NULL DEFAULT '';
ALTER TABLE nights ADD COLUMN asked_corpus TEXT NOT NULL DEFAULT '';
)sql";

// Why the reduction ended; unknown in older stores for plans that are not minimal.
constexpr std::string_view kVersion8 = R"sql(
ALTER TABLE findings ADD COLUMN reduction_end TEXT NOT NULL DEFAULT 'none';
ALTER TABLE findings ADD COLUMN reduction_plans INTEGER NOT NULL DEFAULT 0;
ALTER TABLE findings ADD COLUMN reduction_trials INTEGER NOT NULL DEFAULT 0;
ALTER TABLE findings ADD COLUMN reduction_seconds REAL NOT NULL DEFAULT 0;
)sql";

// Number of calls compared with the reference, and of calls that have a reference; zeros in older
// stores.
constexpr std::string_view kVersion9 = R"sql(
ALTER TABLE campaigns ADD COLUMN reference_compared INTEGER NOT NULL DEFAULT 0;
ALTER TABLE campaigns ADD COLUMN reference_calls INTEGER NOT NULL DEFAULT 0;
ALTER TABLE night_targets ADD COLUMN reference_compared INTEGER NOT NULL DEFAULT 0;
ALTER TABLE night_targets ADD COLUMN reference_calls INTEGER NOT NULL DEFAULT 0;
ALTER TABLE night_targets ADD COLUMN not_compared TEXT NOT NULL DEFAULT '';
)sql";

// Writers and their number of writes (writer_table.h). Writes of older builds are counted by
// campaign.
constexpr std::string_view kVersion10 = R"sql(
CREATE TABLE writers (
  name   TEXT PRIMARY KEY,
  writes INTEGER NOT NULL,
  pruned TEXT NOT NULL
) WITHOUT ROWID;
INSERT INTO writers SELECT uid, 1 + plans + (ended <> ''), '' FROM campaigns;
)sql";

// How the outputs of a night's targets were judged without a reference, and mistakes in their
// specs; absent in older stores.
constexpr std::string_view kVersion11 = R"sql(
ALTER TABLE night_targets ADD COLUMN outputs_by_digests INTEGER NOT NULL DEFAULT 0;
ALTER TABLE night_targets ADD COLUMN outputs_by_nothing INTEGER NOT NULL DEFAULT 0;
ALTER TABLE night_targets ADD COLUMN outputs_not_judged TEXT NOT NULL DEFAULT '';
ALTER TABLE night_targets ADD COLUMN spec_error TEXT NOT NULL DEFAULT '';
)sql";

// Renamed terms: the launch oracle, the device that runs no kernel, the side of the guard page,
// plans that showed a finding. Texts of plans are unchanged; parse_plan() reads both. Bisection
// runs of writes beside a buffer are deleted, because some passed in modes that cannot detect the
// write.
constexpr std::string_view kVersion12 = R"sql(
ALTER TABLE sightings RENAME TO occurrences;
ALTER TABLE findings RENAME COLUMN sightings TO occurrences;
UPDATE findings SET oracle = 'launch-mismatch' WHERE oracle = 'launches';
UPDATE trials SET oracle = 'launch-mismatch' WHERE oracle = 'launches';
UPDATE attributions SET value = 'guard_after' WHERE axis = 'placement' AND value = 'tail';
UPDATE attributions SET value = 'guard_before' WHERE axis = 'placement' AND value = 'head';
UPDATE trials SET placement = 'guard_after' WHERE placement = 'tail';
UPDATE trials SET placement = 'guard_before' WHERE placement = 'head';
UPDATE environments SET device = 'dry-run' WHERE device = 'none';
UPDATE campaigns SET device = 'dry-run' WHERE device = 'none';
UPDATE probes SET device = 'dry-run' WHERE device = 'none';
DELETE FROM probes WHERE finding_id IN
  (SELECT id FROM findings WHERE kind = 'redzone' AND side IN ('before', 'after'));
)sql";

// The origin of a finding; the document tells how to run it again, and is "" for a built-in target.
constexpr std::string_view kVersion13 = R"sql(
ALTER TABLE findings ADD COLUMN origin TEXT NOT NULL DEFAULT 'target';
ALTER TABLE findings ADD COLUMN origin_document TEXT NOT NULL DEFAULT '';
)sql";

// Number of the compared calls of which only a sample was compared; zeros in older stores, which
// compared whole calls only.
constexpr std::string_view kVersion14 = R"sql(
ALTER TABLE campaigns ADD COLUMN reference_sampled INTEGER NOT NULL DEFAULT 0;
ALTER TABLE night_targets ADD COLUMN reference_sampled INTEGER NOT NULL DEFAULT 0;
)sql";

// Moves paths of plugins and packages from the end of the toolkit's text to the origin. A text
// whose change would make two environments equal is unchanged.
constexpr std::string_view kVersion15 = R"sql(
UPDATE findings SET origin_document = (
  SELECT CASE WHEN instr(toolkit, ', package ') > 0
    THEN json_object('source', 'package', 'path', substr(toolkit, instr(toolkit, ', package ') + 10))
    ELSE json_object('source', 'plugin', 'path', substr(toolkit, instr(toolkit, ', plugin ') + 9))
    END FROM environments e WHERE e.id = findings.environment_id)
  WHERE origin = 'target' AND environment_id IN (SELECT id FROM environments
    WHERE instr(toolkit, ', package ') > 0 OR instr(toolkit, ', plugin ') > 0);
UPDATE OR IGNORE environments SET toolkit = substr(toolkit, 1, instr(toolkit, ', package ') - 1)
  WHERE instr(toolkit, ', package ') > 0;
UPDATE OR IGNORE environments SET toolkit = substr(toolkit, 1, instr(toolkit, ', plugin ') - 1)
  WHERE instr(toolkit, ', plugin ') > 0;
)sql";

// 1: the document came with a merge. Unknown in older stores.
constexpr std::string_view kVersion16 = R"sql(
ALTER TABLE findings ADD COLUMN origin_merged INTEGER NOT NULL DEFAULT 0;
)sql";

// Alignment of the base addresses of tensors.
constexpr std::string_view kVersion17 = R"sql(
ALTER TABLE trials ADD COLUMN alignment TEXT NOT NULL DEFAULT 'promised';
)sql";

// The host threads that made the calls.
constexpr std::string_view kVersion18 = R"sql(
ALTER TABLE trials ADD COLUMN callers TEXT NOT NULL DEFAULT 'one';
)sql";

// The fleet that a night's shard belongs to.
constexpr std::string_view kVersion19 = R"sql(
ALTER TABLE nights ADD COLUMN fleet TEXT NOT NULL DEFAULT '';
)sql";

// Former names of a finding: those under which it was confirmed before a reduction found a more
// specific one. Merged copies of other stores: the number of the last copy of each source.
constexpr std::string_view kVersion20 = R"sql(
CREATE TABLE former_names (
  finding_id     INTEGER NOT NULL REFERENCES findings (id),
  signature_hash TEXT NOT NULL,
  PRIMARY KEY (finding_id, signature_hash)
) WITHOUT ROWID;
CREATE TABLE merged_copies (
  source TEXT NOT NULL PRIMARY KEY,
  number INTEGER NOT NULL
) WITHOUT ROWID;
)sql";

// Whether the tensors of calls used the memory of earlier calls.
constexpr std::string_view kVersion21 = R"sql(
ALTER TABLE trials ADD COLUMN addresses TEXT NOT NULL DEFAULT 'distinct';
)sql";

// Runs counted as passes although the reference was not requested, unless the finding is a mismatch
// with the reference. Such runs are deleted; they are made again on demand, and attributions are
// measured again with the finding.
constexpr std::string_view kVersion22 = R"sql(
DELETE FROM probes WHERE passed > 0 AND finding_id IN
  (SELECT id FROM findings WHERE kind <> 'reference');
DELETE FROM attributions WHERE finding_id IN
  (SELECT a.finding_id FROM attributions a JOIN findings f ON f.id = a.finding_id
   WHERE f.kind <> 'reference' AND a.failed_runs < a.runs);
)sql";

// Whether the host's stack was filled before each call.
constexpr std::string_view kVersion23 = R"sql(
ALTER TABLE trials ADD COLUMN stack TEXT NOT NULL DEFAULT 'as_left';
)sql";

constexpr std::array kSteps{kVersion1,  kVersion2,  kVersion3,  kVersion4,  kVersion5,  kVersion6,
                            kVersion7,  kVersion8,  kVersion9,  kVersion10, kVersion11, kVersion12,
                            kVersion13, kVersion14, kVersion15, kVersion16, kVersion17, kVersion18,
                            kVersion19, kVersion20, kVersion21, kVersion22, kVersion23};

}  // namespace

Migrations migrations() {
  return kSteps;
}

}  // namespace redzone::store
