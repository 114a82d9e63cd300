// What `redzone guard` prints.
#include "report/guard.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace redzone::report {
namespace {

using Json = nlohmann::json;
using guard::Counter;
using guard::Fact;
using guard::FindingKind;

guard::ProcessRecord process(std::uint32_t pid, std::initializer_list<Fact> facts) {
  guard::ProcessRecord out;
  out.pid = pid;
  out.program = "/usr/bin/train";
  for (const Fact fact : facts) out.facts[static_cast<std::size_t>(fact)] = true;
  return out;
}

guard::Finding overrun() {
  guard::Finding out;
  out.kind = FindingKind::guard_page;
  out.access = guard::Access::write;
  out.side = guard::Side::after;
  out.address = 0x7000;
  out.distance_bytes = 2;
  out.block = {0x6000, 4000, 7, false};
  out.where = {{0x10, "/usr/bin/train", 0x10, "fill(float*)"}, {0x99, "", 0, ""}};
  out.allocated = {{0x20, "/usr/bin/train", 0x20, "make_buffer()"}};
  return out;
}

guard::ProgramRun sample() {
  guard::ProgramRun out;
  out.started.argv = {"train", "--fast"};
  out.settings.cpu = true;
  out.ended = {139, 11};
  out.processes = {process(5, {Fact::cpu_proven}), process(6, {Fact::loaded})};
  out.processes[0].findings = {overrun(), overrun()};
  out.processes[0].counters[static_cast<std::size_t>(Counter::host_blocks)] = 1234;
  out.processes[1].counters[static_cast<std::size_t>(Counter::left_out_pinned)] = 3;
  return out;
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST(GuardText, SaysWhatWasFoundAndWhatWasNotGuarded) {
  const std::string text = guard_text(sample(), 1);
  for (const char* part :
       {"guarded: allocations of the CUDA driver, malloc() from 1,024 bytes; guard pages after",
        "finding 1: guard-page: write in fill(float*) (train) after a block, allocated in "
        "make_buffer() (train)\n",
        "0x7000: 2 bytes after a live block of 4,000 bytes (block 7)",
        "seen       2 times, process 5",
        "in         fill(float*) (/usr/bin/train+0x10)\n             0x99\n",
        "allocated  make_buffer()", "judged", "not proven", "1,234",
        "not guarded: 3 allocations of pinned memory of the host"})
    EXPECT_TRUE(has(text, part)) << part << "\n" << text;
  EXPECT_TRUE(
      text.ends_with("redzone guard: 1 finding; 1 of 2 processes to guard was not judged; the "
                     "program was ended by signal 11; exit code 1\n"))
      << text;
}

guard::KernelLaunch launch(std::uint64_t ordinal, const char* kernel) {
  guard::KernelLaunch out;
  out.ordinal = ordinal;
  out.state = guard::LaunchState::launched;
  out.kernel = kernel;
  out.grid = {4, 2, 1};
  out.block = {32, 1, 1};
  out.shared_bytes = 16;
  out.stream = 0x70;
  out.arguments = {{0, 8, 0x6000}, {8, 4, 5}, {16, 24, 0x6010}};
  out.pointers = {{0, 0x6000, {0x6000, 4000, 7, false}},
                  {24, 0x6010, {0x6000, 4000, 7, true}},
                  {16, 0x6fa0, {0x6000, 4000, 7, false}}};
  return out;
}

// An error of the device, with so many launches that may have made it.
guard::ProgramRun broken(std::size_t launches) {
  auto out = sample();
  guard::Finding error;
  error.kind = FindingKind::device_error;
  error.on_device = true;
  error.code = 700;
  error.call = "cuCtxSynchronize";
  out.processes[0].findings = {error};
  for (std::size_t i = launches; i > 0; --i)
    out.processes[0].unfinished.push_back(launch(i, "fill(float*)"));
  return out;
}

TEST(GuardText, AnErrorHasTheLaunchesThatMayHaveMadeIt) {
  const std::string one = guard_text(broken(1), 1);
  for (const char* part :
       {"cuCtxSynchronize returned 700; which kernel and which address is not known",
        "launched   one launch was not known to have completed:\n",
        "fill(float*) (launch 1, grid 4 x 2 x 1, block 32 x 1 x 1, 16 bytes of shared memory, "
        "stream 0x70)\n",
        "argument 1 points to the live block 7 of 4,000 bytes\n",
        "argument 3, byte 8 points 16 bytes into the freed block 7",
        "argument 3 points to the end of the live block 7"})
    EXPECT_TRUE(has(one, part)) << part << "\n" << one;
  const std::string many = guard_text(broken(20), 1);
  EXPECT_TRUE(has(many, "20 launches were not known to have completed")) << many;
  EXPECT_TRUE(has(many, "(launch 13,")) << many;
  EXPECT_FALSE(has(many, "(launch 12,")) << many;
  EXPECT_TRUE(has(many, "and 12 before\n")) << many;
  EXPECT_FALSE(has(guard_text(broken(0), 1), "launched"));
  auto lost = broken(1);
  lost.processes[0].unfinished_lost = 1200;
  EXPECT_TRUE(
      has(guard_text(lost, 1),
          "1 launch and up to 1,200 more, which are no longer known, were not known to have "
          "completed"));
}

// A process that became another program (exec) has its number, and a later error of the same
// process is of another context.
TEST(GuardText, LaunchesAreThoseOfTheProcessAndTheErrorThatTheyBelongTo) {
  auto run = broken(1);
  auto shell = run.processes[0];
  shell.findings.clear();
  shell.unfinished.clear();
  run.processes.insert(run.processes.begin(), shell);
  EXPECT_TRUE(has(guard_text(run, 1), "launched   one launch"));
  auto second = run.processes[1].findings[0];
  second.code = 719;
  run.processes[1].findings.push_back(second);
  const std::string text = guard_text(run, 1);
  const auto first_launch = text.find("launched   one launch");
  EXPECT_EQ(text.find("launched   one launch", first_launch + 1), std::string::npos) << text;
}

TEST(GuardText, ACoreDumpNamesTheKernelAndTheAccess) {
  auto run = broken(3);
  auto& error = run.processes[0].findings[0];
  error.kernel = "fill";
  error.exception = "Warp Illegal Address";
  error.location = "q.cu:4";
  error.instruction = "STG.E [R2.64], R7";
  error.access = guard::Access::write;
  error.address = 0x7000;
  error.side = guard::Side::after;
  error.distance_bytes = 97;
  error.block = {0x6000, 4000, 7, false};
  error.allocated = overrun().allocated;
  error.python_allocated = {{"/home/me/train.py", "Model.run", 12}};
  error.launch = launch(2, "fill(float*)");
  const std::string text = guard_text(run, 1);
  for (const char* part :
       {"finding 1: device-error: error 700 in fill\n",
        "cuCtxSynchronize returned 700 (Warp Illegal Address)\n", "kernel     fill at q.cu:4\n",
        "access     STG.E [R2.64], R7\n", "0x7000: 97 bytes after a live block of 4,000 bytes",
        "launched   fill(float*) (launch 2,", "/home/me/train.py:12 Model.run\n"})
    EXPECT_TRUE(has(text, part)) << part << "\n" << text;
  EXPECT_FALSE(has(text, "not known to have completed")) << text;
}

TEST(GuardText, ACanaryIsOfOneLaunchOnlyIfNoneCameBetween) {
  auto run = sample();
  auto& finding = run.processes[0].findings[0];
  finding.kind = FindingKind::canary;
  finding.launch = launch(9, "fill(float*)");
  finding.launches_since_right = 1;
  EXPECT_TRUE(has(guard_text(run, 1), "first after fill(float*) (launch 9,"));
  finding.launches_since_right = 3;
  EXPECT_TRUE(has(guard_text(run, 1), "one of the last 3 launches; the last of them:"));
}

TEST(GuardText, BeginsWithWhatWasPickedForAFramework) {
  auto run = sample();
  run.framework = "PyTorch without its cache";
  EXPECT_TRUE(guard_text(run, 1).starts_with("framework: PyTorch without its cache\n"));
}

TEST(GuardText, TheLastLineTellsNoFindingFromNotJudged) {
  auto run = sample();
  run.processes[0].findings.clear();
  run.ended = {3, 0};
  EXPECT_TRUE(
      has(guard_text(run, 3),
          "redzone guard: no finding; 1 of 2 processes to guard was not judged; the program "
          "exited with 3; exit code 3\n"));
  run.processes.push_back(process(7, {Fact::loaded}));
  EXPECT_TRUE(has(guard_text(run, 3), "no finding; 2 of 3 processes to guard were not judged;"));
  run.processes.erase(run.processes.begin() + 1, run.processes.end());
  EXPECT_TRUE(has(guard_text(run, 3),
                  "redzone guard: no finding; the program exited with 3; exit code 3\n"));
  run.processes[0] = process(6, {Fact::loaded});
  EXPECT_TRUE(has(guard_text(run, 125),
                  "redzone guard: nothing was judged; 1 of 1 process to guard was not judged; the "
                  "program exited with 3; exit code 125\n"));
  run.processes.clear();
  EXPECT_TRUE(has(guard_text(run, 125),
                  "redzone guard: nothing was judged; the program exited with 3; exit code 125\n"));
}

// Each program with the CUDA runtime has them.
TEST(GuardText, TablesOfTheDriverAreNotedOnRequest) {
  auto run = sample();
  run.processes[0].counters[static_cast<std::size_t>(Counter::export_tables)] = 7;
  EXPECT_FALSE(has(guard_text(run, 1), "tables"));
  EXPECT_TRUE(has(guard_text(run, 1, Notes::all), "note: 7 tables of functions of the driver"));
  EXPECT_EQ(Json::parse(guard_json(run, 1))["counters"]["export_tables"], 7);
}

TEST(GuardText, ProcessesWithNothingToGuardAreOneLine) {
  auto run = sample();
  run.settings.cpu = false;
  run.processes = {process(5, {Fact::driver_seen, Fact::driver_proven}), process(6, {Fact::loaded}),
                   process(7, {Fact::loaded}), process(8, {Fact::loaded})};
  run.processes[1].program = "/usr/bin/dash";
  run.processes[2].program = run.processes[3].program = "/usr/local/cuda/bin/ptxas";
  std::string text = guard_text(run, 0);
  EXPECT_TRUE(has(text, "\n3 other processes had nothing to guard\n")) << text;
  EXPECT_FALSE(has(text, "dash")) << text;
  EXPECT_FALSE(has(text, "ptxas")) << text;
  EXPECT_EQ(Json::parse(guard_json(run, 0))["processes"].size(), 4u);
  run.processes.resize(2);
  EXPECT_TRUE(has(guard_text(run, 0), "\n1 other process had nothing to guard\n"));
  run.processes.erase(run.processes.begin());
  text = guard_text(run, 125);
  EXPECT_TRUE(has(text, "\n1 process had nothing to guard\n")) << text;
  EXPECT_FALSE(has(text, "program  state")) << "a table without rows";
}

TEST(GuardText, OtherKinds) {
  auto run = sample();
  guard::Finding error;
  error.kind = FindingKind::device_error;
  error.code = 700;
  error.call = "cuStreamSynchronize";
  guard::Finding canary = overrun();
  canary.kind = FindingKind::canary;
  canary.wrong_bytes = 1;
  guard::Finding freed = overrun();
  freed.kind = FindingKind::bad_free;
  freed.side = guard::Side::inside;
  freed.call = "free";
  freed.block.freed = true;
  run.processes[0].findings = {error, canary, freed};
  const std::string text = guard_text(run, 1);
  for (const char* part :
       {"device-error: error 700 from cuStreamSynchronize",
        "cuStreamSynchronize returned 700; which kernel and which address is not known",
        "1 byte of the canary is wrong",
        "bad-free: free of a freed block in fill(float*) (train), allocated in make_buffer()",
        "4,096 bytes into a freed block of 4,000 bytes"})
    EXPECT_TRUE(has(text, part)) << part << "\n" << text;
}

TEST(GuardText, FramesInsideTheCudaRuntimeAreInJsonAlone) {
  auto run = sample();
  auto& finding = run.processes[0].findings[0];
  finding.allocated.insert(finding.allocated.begin(),
                           {{0x1, "/usr/bin/train", 0x1, "libcudart_static_53"},
                            {0x2, "/usr/bin/train", 0x2, "cudaMalloc"}});
  const std::string text = guard_text(run, 1);
  EXPECT_FALSE(has(text, "libcudart_static")) << text;
  EXPECT_TRUE(has(text, "allocated  cudaMalloc (/usr/bin/train+0x2)\n             make_buffer()"))
      << text;
  EXPECT_TRUE(has(text, "a block, allocated in make_buffer() (train)")) << text;
  EXPECT_EQ(Json::parse(guard_json(run, 1))["findings"][0]["allocated"].size(), 3u);
}

TEST(GuardText, AnAlignmentBelowThePromiseIsLabelled) {
  auto run = sample();
  run.settings.align_bytes = 4;
  EXPECT_TRUE(has(guard_text(run, 1), "which is not what their allocators promise"));
}

TEST(GuardJson, HasTheSame) {
  const Json json = Json::parse(guard_json(sample(), 1));
  EXPECT_EQ(json["argv"], Json({"train", "--fast"}));
  EXPECT_EQ(json["exit_code"], 139);
  EXPECT_EQ(json["signal"], 11);
  EXPECT_EQ(json["guard_exit_code"], 1);
  EXPECT_EQ(json["judged"], true);
  EXPECT_EQ(json["processes_to_guard"], 2);
  EXPECT_EQ(json["processes_not_judged"], 1);
  EXPECT_EQ(json["settings"]["align"], 0);
  ASSERT_EQ(json["findings"].size(), 1u);
  const Json& finding = json["findings"][0];
  EXPECT_EQ(finding["signature"],
            "guard-page: write in fill(float*) (train) after a block, allocated in make_buffer() "
            "(train)");
  EXPECT_EQ(finding["kind"], "guard-page");
  EXPECT_EQ(finding["memory"], "host");
  EXPECT_EQ(finding["distance"], 2);
  EXPECT_EQ(finding["times"], 2);
  EXPECT_EQ(finding["block"]["ordinal"], 7);
  EXPECT_EQ(finding["where"][0]["function"], "fill(float*)");
  EXPECT_EQ(json["processes"][1]["state"], "not proven");
  EXPECT_EQ(json["counters"]["host_blocks"], 1234);
  EXPECT_EQ(json["left_out"]["left_out_pinned"]["times"], 3);
}

// Names come from the files and arguments of a foreign program.
TEST(GuardReport, NamesOfAnyBytesAreSafe) {
  auto run = sample();
  run.started.argv = {"\x1b[31m\xff"};
  run.foreign_preload = "a\nb";
  run.processes[0].program = "\x1b[2J";
  run.processes[0].findings[0].where[0].module = "/tmp/\x1b[2J\xff";
  run.processes[0].findings[0].where[0].function = "f\n\xff";
  EXPECT_FALSE(has(guard_text(run, 1), "\x1b"));
  EXPECT_FALSE(has(guard_text(run, 1), "\xff"));
  const std::string json = guard_json(run, 1);
  EXPECT_FALSE(has(json, "\x1b"));
  EXPECT_FALSE(Json::parse(json, nullptr, false).is_discarded());
}

}  // namespace
}  // namespace redzone::report
