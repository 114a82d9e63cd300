// A worker under a fake tool: in a trial it writes what the tool would write to the log, selected
// by the name of the plan's target.
#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <map>
#include <string>

#include "core/names.h"
#include "core/plan_text.h"
#include "exec/shared_box.h"
#include "exec/worker_loop.h"
#include "trial/sanitizer_watch.h"

namespace {

using namespace redzone;
using namespace redzone::exec;

const std::byte* at(std::uintptr_t address) {
  return reinterpret_cast<const std::byte*>(address);
}

class FakeHost final : public TrialHost {
 public:
  explicit FakeHost(trial::SanitizerSource source) : log_(source.log), watch_(std::move(source)) {}

  Hello hello() override { return {"fake", "1.2.3", 90, "13.0", 1 << 30}; }
  bool device_lost() const override { return watch_.spent(); }

  Observation run(const Plan& plan, const TrialSpec&) override {
    const device::NamedRange buffers[] = {{"y", 0, at(0x7000), at(0x7100)}};
    watch_.begin_trial();
    act(plan.target);
    watch_.drain(-1, buffers);
    Observation seen;
    seen.end = End::completed;
    seen.message = std::to_string(::getpid());
    seen.sanitizer = watch_.end_trial();
    return seen;
  }

 private:
  void say(std::string_view text) { std::ofstream(log_, std::ios::app) << text; }
  void say_write(int thread, std::uint64_t address) {
    say(
        fmt::format("========= Invalid __global__ write of size 4 bytes\n"
                    "=========     at scan(int *, int)+0xb0 in p.cu:8\n"
                    "=========     by thread ({},0,0) in block (0,0,0)\n"
                    "=========     Access to 0x{:x} is out of bounds\n========= \n",
                    thread, address));
  }
  // The reports of a working tool for the selftest plugin.
  void act_selftest(const std::string& what) {
    if (what == "selftest.write_past_end") say_write(64, 0x7100);
    if (what == "selftest.unwritten_scratch")
      say("========= Uninitialized __global__ memory read of size 4 bytes\n"
          "=========     at write_range(const float *, float *)+0x10 in p.cu:8\n========= \n");
    if (what == "selftest.shared_race")
      say("========= Error: Race reported between Write access at rotate()+0x90 in p.cu:11\n"
          "=========     and Read access at rotate()+0xa0 in p.cu:11 [4 hazards]\n========= \n");
    if (what == "selftest.divergent_barrier")
      say("========= Barrier error detected. Divergent thread(s) in warp.\n"
          "=========     at half(int *)+0x70 in p.cu:14\n========= \n");
  }
  void act(const std::string& what) {
    const char* env = std::getenv("FAKE_SANITIZER");
    const std::string tool = env == nullptr ? "" : env;
    if (tool == "everything" || (tool == "mistaken" && what == "selftest.shared_race"))
      say_write(64, 0x7100);
    else if (tool != "blind")
      act_selftest(what);
    if (what == "one-write") say_write(64, 0x7100);
    if (what == "warp") {
      for (int i = 0; i < 32; ++i) say_write(i, 0x7100 + 4u * static_cast<unsigned>(i));
    }
    if (what == "flood") {
      for (int i = 0; i < 2000; ++i)
        say(
            fmt::format("========= Invalid __global__ read of size 4 bytes\n"
                        "=========     at k{}(int *)+0x10 in p.cu:{}\n========= \n",
                        i, i));
    }
    if (what == "half-a-record") say("========= Invalid __global__ write of size 4 bytes\n=====");
    if (what == "rubbish") {
      std::string bytes;
      for (unsigned i = 0; i < 1u << 20; ++i)
        bytes.push_back(static_cast<char>(i * 2654435761u >> 24));
      say(bytes);
    }
    if (what == "cut") ::truncate(log_.c_str(), 3) == 0 ? void() : std::abort();
    if (what == "breaks") say("========= Internal Sanitizer Error: lost its mind\n========= \n");
    if (what == "own-kernel")
      say("========= Invalid __global__ write of size 4 bytes\n"
          "=========     at redzone_fill(BatchView)+0x10\n========= \n");
    if (what == "dies") ::_exit(1);
    if (what == "hangs")
      for (;;) ::pause();
  }

  std::filesystem::path log_;
  trial::SanitizerWatch watch_;
};

}  // namespace

int main(int argc, char** argv) {
  std::map<std::string, std::string> flags;
  for (int i = 1; i + 1 < argc; i += 2) flags[argv[i]] = argv[i + 1];
  auto box = SharedBox::attach(std::atoi(flags.at("--black-box-fd").c_str()));
  const auto tool = parse_name<SanitizerTool>(flags.at("--sanitizer"));
  if (!box || !tool) return 5;
  FakeHost host({*tool, flags.at("--sanitizer-log")});
  return worker_loop(std::atoi(flags.at("--socket-fd").c_str()), host, box->box());
}
