// Findings to store, and a folder that is removed when the test ends.
#pragma once

#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <stdexcept>
#include <string>

#include "core/campaign_record.h"
#include "core/finding.h"
#include "core/sample.h"
#include "core/temporary_folder.h"
#include "store/store.h"

namespace redzone::store::testing {

class TempDir {
 public:
  // Tests that drop root's privileges must be able to enter.
  TempDir() { ::chmod(path().c_str(), 0755); }
  ~TempDir() { ::chmod(path().c_str(), 0755); }
  TempDir(const TempDir&) = delete;
  TempDir& operator=(const TempDir&) = delete;

  std::filesystem::path operator/(const char* name) const { return path() / name; }
  const std::filesystem::path& path() const { return folder_.path(); }
  // The names in the folder, sorted and joined by spaces.
  std::string listing() const {
    std::set<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(path()))
      names.insert(entry.path().filename().string());
    std::string out;
    for (const auto& name : names) out += (out.empty() ? "" : " ") + name;
    return out;
  }

 private:
  TemporaryFolder folder_ = TemporaryFolder::create("store-test").value();
};

inline std::string bytes_of(const std::filesystem::path& path) {
  if (!std::filesystem::is_regular_file(path)) return "";
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}
inline void write_bytes(const std::filesystem::path& path, std::string_view bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

// A plan of one call, repeated `calls` times.
inline Plan plan_of(std::int64_t calls, std::uint64_t seed = 1) {
  Plan plan;
  plan.target = "sample";
  Call call;
  call.dims = {{"N", 16}};
  call.seed = seed;
  plan.steps = {CallStep{call, calls, 0}};
  return plan;
}

// A finding in which every member differs from its default; findings with different `n` differ in
// signature.
inline Finding sample_finding(int n = 1) {
  Finding f;
  f.signature = {
      FailKind::illegal_access, "sample", "kernel_" + std::to_string(n), "x", "after", "read"};
  f.state = FindingState::flaky;
  f.oracle = "fault";
  f.reason = "kernel reads 4 bytes past the end of x";
  f.plan = plan_of(3);
  f.original = redzone::testing::sample_plan();
  f.minimal = true;
  f.reduction = {ReductionEnd::minimal, 84, 160, 0.6};
  f.needs_history = true;
  f.reliability = {7, 10};
  f.attribution = {{"launch", "blocking", {0, 5}}, {"placement", "guard_before", {5, 5}}};
  f.fault_attributions = {
      {"memcheck", 2, "scan", Access::read, "x", Side::after, "scan.cu:7", "4 bytes"}};
  f.fault_detail = "SIGSEGV at x + 64";
  f.environment = {"NVIDIA H100", "580.1", 90,
                   "nvcc 13.0",   "13.0",  "Linux 6.1.0 x86_64",
                   "c0de",        "0.1.0", {TargetSource::plugin, "/home/me/scan.so"}};
  f.plans_to_first = 17;
  f.seconds_to_first = 1.5;
  f.first_seen = "2025-01-31T12:00:00Z";
  f.last_seen = "2025-01-31T13:00:00Z";
  return f;
}

inline ProgramOrigin sample_origin() {
  ProgramOrigin out;
  out.argv = {"./train", "--name", "it's \"this\"", "a\nb", ""};
  out.folder = "/home/x/work";
  out.environment = {{"CUDA_VISIBLE_DEVICES", "1"}, {"OMP_NUM_THREADS", ""}};
  out.settings = "driver=1,cpu=1";
  out.block = 7;
  out.block_bytes = 4000;
  out.site = "make_buffer(int) (train)";
  out.where = {"fill(float*) (/home/x/train+0x10)"};
  out.allocated = {"make_buffer(int) (/home/x/train+0x20)", "main (/home/x/train+0x30)"};
  out.freed = {"drop(float*) (/home/x/train+0x40)"};
  return out;
}

// A finding of a program under the guard.
inline Finding sample_program_finding(int n = 1) {
  Finding f = sample_finding(n);
  f.program = sample_origin();
  f.environment.origin = {};
  f.signature.target = target_of_program(f.program->argv);
  f.plan = f.original = plan_without_calls(f.signature.target);
  f.oracle = "guard";
  f.attribution.clear();
  f.fault_attributions.clear();
  f.needs_history = false;
  f.minimal = false;
  f.reduction = {};
  return f;
}

inline CampaignRecord sample_campaign() {
  CampaignRecord c;
  c.seed = 0xfedcba9876543210u;
  c.device = "host";
  c.command = "redzone run --time 60s";
  c.started = "2025-01-31T12:00:00Z";
  return c;
}

inline bool equal(const Finding& a, const Finding& b) {
  return a.signature == b.signature && a.state == b.state && a.oracle == b.oracle &&
         a.reason == b.reason && a.plan == b.plan && a.original == b.original &&
         a.minimal == b.minimal && a.reduction == b.reduction &&
         a.needs_history == b.needs_history && a.reliability == b.reliability &&
         a.attribution == b.attribution && a.fault_attributions == b.fault_attributions &&
         a.fault_detail == b.fault_detail && a.environment == b.environment &&
         a.campaign == b.campaign && a.plans_to_first == b.plans_to_first &&
         a.seconds_to_first == b.seconds_to_first && a.occurrences == b.occurrences &&
         a.first_seen == b.first_seen && a.last_seen == b.last_seen && a.program == b.program &&
         a.origin_merged == b.origin_merged;
}

// The value; throws if there is an error.
template <class T>
T must(Result<T> result) {
  if (!result) throw std::runtime_error(result.error().message);
  if constexpr (!std::is_void_v<T>) return std::move(*result);
}

inline Store open_rw(const std::filesystem::path& path, const OpenOptions& options = {}) {
  return must(Store::open(path, OpenMode::read_write_create, options));
}
inline Store open_ro(const std::filesystem::path& path) {
  return must(Store::open(path, OpenMode::read_only));
}

// The error of opening `path`, which must be one line and leave the file unchanged.
inline Error open_error(const std::filesystem::path& path,
                        OpenMode mode = OpenMode::read_write_create) {
  const std::string before = bytes_of(path);
  const auto store = Store::open(path, mode);
  EXPECT_EQ(bytes_of(path), before);
  if (store) {
    ADD_FAILURE() << path << " was opened";
    return {};
  }
  EXPECT_EQ(store.error().message.find('\n'), std::string::npos);
  EXPECT_TRUE(path.empty() || store.error().message.find(path.string()) != std::string::npos)
      << store.error().message;
  return store.error();
}

}  // namespace redzone::store::testing
