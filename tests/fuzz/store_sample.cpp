#include "fuzz/store_sample.h"

#include <SQLiteCpp/SQLiteCpp.h>
#include <fmt/format.h>

#include <cstring>
#include <utility>

#include "fuzz/harness.h"
#include "fuzz/store_reading.h"
#include "store/merged_copies.h"
#include "store/night.h"
#include "store/sample.h"
#include "store/upkeep.h"

namespace redzone::fuzz {
namespace {

using store::testing::must;

Observation sample_observation() {
  Observation seen;
  seen.end = End::fault;
  seen.fault = Fault{.code = "SIGSEGV", .call = 0, .kernel = "scan", .buffer = "x"};
  CallObservation& call = seen.calls.emplace_back();
  call.call = 0;
  call.buffers.emplace_back().name = "y";
  call.references.emplace_back().tensor = "y";
  call.launches.emplace_back().kernel = "scan";
  call.scratch.emplace_back().name = "s";
  seen.encodes.emplace_back().name = "m";
  seen.sanitizer.emplace().records.emplace_back().kind = "invalid-read";
  return seen;
}

void add_night(store::Store& store, std::int64_t campaign, std::int64_t finding) {
  store::NightBook book(store);
  store::NightRun run;
  run.campaign = campaign;
  must(book.begin(run));
  store::NightTarget target;
  target.target = "sample";
  must(book.target(campaign, target));
  store::NightReplay replay;
  replay.subject = "a.toml";
  replay.finding = finding;
  replay.target = "sample";
  must(book.replayed(campaign, replay));
}

void fill(store::Store& store) {
  const std::int64_t campaign = must(store.begin_campaign(store::testing::sample_campaign()));
  Finding finding = store::testing::sample_finding();
  finding.campaign = campaign;
  // Confirmed under another name first.
  const Signature name =
      std::exchange(finding.signature, store::testing::sample_finding(3).signature);
  finding.id = must(store.record(finding)).id;
  must(store.settle(finding));
  finding.signature = name;
  must(store.settle(finding));
  must(store.mark(finding.id, {"", LedgerEvent::known, "https://example.org/1", ""}));
  TrialSpec spec{finding.plan.mode};
  spec.order = {0};
  const Verdict verdict{};
  must(store.add_trial(finding.id, "confirm", finding.plan, spec, sample_observation(), verdict));
  must(store.add_artifact(finding.id, "log", "end", "it ended"));
  must(store.add_probe({finding.id, "host", "c0de"}, finding.plan,
                       {.plan_hash = plan_hash(finding.plan), .same = 2, .passed = 1}));
  Finding of_program = store::testing::sample_program_finding(2);
  of_program.campaign = campaign;
  must(store.settle(of_program));
  add_night(store, campaign, finding.id);
  must(store::note_merged_copy(store, "0001", 1));
  must(store.end_campaign(campaign, {.seconds = 2, .plans = 3}));
}

// Takes values off the front of the input; zeros after its end.
class Input {
 public:
  explicit Input(std::string_view bytes) : rest_(bytes) {}

  bool empty() const { return rest_.empty(); }
  std::uint8_t byte() { return number<std::uint8_t>(); }
  template <class T>
  T number() {
    T value{};
    const std::string_view part = text(sizeof value);
    std::memcpy(&value, part.data(), part.size());
    return value;
  }
  std::string_view text(std::size_t bytes) {
    const std::string_view part = rest_.substr(0, bytes);
    rest_.remove_prefix(part.size());
    return part;
  }

 private:
  std::string_view rest_;
};

void bind(SQLite::Statement& update, Input& input) {
  switch (input.byte() % 6) {
    case 0:
      return update.bind(1);  // NULL
    case 1:
      return update.bind(1, std::int64_t{input.number<std::int8_t>()});
    case 2:
      return update.bind(1, input.number<std::int64_t>());
    case 3:
      return update.bind(1, input.number<double>());
    case 4:
      return update.bind(1, std::string(input.text(input.byte())));
    default: {
      const std::string_view blob = input.text(input.byte());
      return update.bind(1, blob.data(), static_cast<int>(blob.size()));
    }
  }
}

}  // namespace

StoreSample::StoreSample() {
  const StoreFolder folder;
  {
    auto store = store::testing::open_rw(folder.file());
    fill(store);
    for (const auto& table : must(store::contents(store)).rows)
      require(table.second > 0, "every table of the sample has a row: " + table.first);
  }
  // One file without a log, with small pages.
  SQLite::Database sql(folder.file().string(), SQLite::OPEN_READWRITE);
  sql.exec("PRAGMA journal_mode = DELETE");
  sql.exec("PRAGMA page_size = 512");
  sql.exec("VACUUM");
  SQLite::Statement columns(sql,
                            "SELECT m.name, c.name FROM sqlite_master m JOIN "
                            "pragma_table_info(m.name) c WHERE m.type = 'table' AND m.name NOT "
                            "LIKE 'sqlite_%' ORDER BY m.name, c.cid");
  while (columns.executeStep())
    updates_.push_back(fmt::format("UPDATE OR IGNORE {} SET {} = ?1",
                                   columns.getColumn(0).getString(),
                                   columns.getColumn(1).getString()));
  require(updates_.size() > 100 && updates_.size() <= 256, "a byte names a column");
  image_ = store::testing::bytes_of(folder.file());
}

void StoreSample::edit(const std::filesystem::path& file, std::string_view edits) const {
  SQLite::Database sql(file.string(), SQLite::OPEN_READWRITE);
  sql.exec("PRAGMA journal_mode = OFF");
  Input input(edits);
  while (!input.empty()) {
    SQLite::Statement update(sql, updates_[input.byte() % updates_.size()]);
    bind(update, input);
    try {
      update.exec();
    } catch (const SQLite::Exception&) {
      // NULL in a column that allows none.
    }
  }
}

}  // namespace redzone::fuzz
