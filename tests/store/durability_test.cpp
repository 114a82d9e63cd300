// A driver killed at any moment loses nothing that it reported.
#include <SQLiteCpp/SQLiteCpp.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <random>
#include <sstream>

#include "core/campaign_record.h"
#include "store/sample.h"
#include "store/store.h"

namespace redzone::store {
namespace {

using namespace testing;

// Records findings forever and, once a finding is stored, reports it as "id number
// " into the pipe.
[[noreturn]] void record_and_report(const std::filesystem::path& path, int first, int pipe) {
  try {
    Store store = open_rw(path);
    const std::int64_t campaign = must(store.begin_campaign(sample_campaign()));
    for (int n = first;; ++n) {
      Finding f = sample_finding(n);
      f.campaign = campaign;
      f.id = must(store.record(f)).id;
      const std::string line = std::to_string(f.id) + " " + std::to_string(n) + "\n";
      if (::write(pipe, line.data(), line.size()) < 0) ::_exit(1);
      must(store.add_trial(f.id, "confirm", f.plan, {}, {}, {}));
      f.plan = plan_of(1, static_cast<std::uint64_t>(n));
      must(store.update(f));
      CampaignStats stats;
      stats.plans = static_cast<std::uint64_t>(n);
      must(store.update_campaign(campaign, stats));
    }
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
  }
  ::_exit(1);
}

TEST(Durability, FiftyKillsLoseNothingThatWasReported) {
  TempDir dir;
  const auto path = dir / "s.db";
  std::mt19937 random(7);
  std::map<std::int64_t, int> reported;
  int next = 0;
  for (int round = 0; round < 50; ++round) {
    int ends[2];
    ASSERT_EQ(::pipe(ends), 0);
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      ::close(ends[0]);
      record_and_report(path, next, ends[1]);
    }
    ::close(ends[1]);
    // A few reports, then a moment more, so that the kill hits every part of the loop.
    std::string text;
    const std::size_t enough = 1 + random() % 40;
    char buffer[256];
    for (ssize_t n = 1; text.size() < enough && n > 0;) {
      n = ::read(ends[0], buffer, sizeof buffer);
      if (n > 0) text.append(buffer, static_cast<std::size_t>(n));
    }
    ::usleep(random() % 5000);
    ::kill(child, SIGKILL);
    int status = 0;
    ::waitpid(child, &status, 0);
    ASSERT_TRUE(WIFSIGNALED(status)) << "the child ended by itself";
    for (ssize_t n = 1; n > 0;) {
      n = ::read(ends[0], buffer, sizeof buffer);
      if (n > 0) text.append(buffer, static_cast<std::size_t>(n));
    }
    ::close(ends[0]);

    std::istringstream lines(text);
    for (std::int64_t id, n; lines >> id >> n;) {
      reported[id] = static_cast<int>(n);
      next = static_cast<int>(n) + 1;
    }
    // The read-only mode first: it must see rows that only the log contains.
    for (OpenMode mode : {OpenMode::read_only, OpenMode::read_write_create}) {
      Store store = must(Store::open(path, mode));
      std::map<std::int64_t, Finding> stored;
      for (Finding& f : must(store.findings())) stored.emplace(f.id, std::move(f));
      for (const auto& [id, n] : reported) {
        ASSERT_TRUE(stored.count(id)) << "finding " << id << " is gone in round " << round;
        EXPECT_EQ(stored[id].signature, sample_finding(n).signature);
      }
    }
    SQLite::Database db(path.string());
    EXPECT_EQ(db.execAndGet("PRAGMA integrity_check").getString(), "ok");
    EXPECT_EQ(db.execAndGet("SELECT count(*) FROM pragma_foreign_key_check").getInt64(), 0);
  }
  EXPECT_GE(reported.size(), 50u);
}

// The kernel refuses to let the file grow, which looks like a disk error in the middle of a write.
TEST(Durability, ADiskThatRefusesToWriteLosesNothingThatWasStored) {
  TempDir dir;
  const auto path = dir / "s.db";
  { must(open_rw(path).record(sample_finding(1))); }
  const pid_t child = ::fork();
  if (child == 0) {
    int code = 1;
    try {
      Store store = open_rw(path);
      ::signal(SIGXFSZ, SIG_IGN);
      const rlimit limit{300 << 10, 300 << 10};
      ::setrlimit(RLIMIT_FSIZE, &limit);
      Finding big = sample_finding(2);
      big.fault_detail = std::string(1 << 20, 'x');
      const auto refused = store.record(big);
      if (!refused && refused.error().kind == ErrorKind::harness &&
          refused.error().message.find("refused to read or write") != std::string::npos &&
          store.record(sample_finding(3)))
        code = 0;
      else if (!refused)
        std::fprintf(stderr, "%s\n", refused.error().message.c_str());
    } catch (const std::exception& e) {
      std::fprintf(stderr, "%s\n", e.what());
    }
    ::_exit(code);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  Store store = open_rw(path);
  const auto findings = must(store.findings());
  ASSERT_EQ(findings.size(), 2u);
  EXPECT_TRUE(equal(findings[0], sample_finding(1)));
  EXPECT_TRUE(equal(findings[1], sample_finding(3)));
}

}  // namespace
}  // namespace redzone::store
