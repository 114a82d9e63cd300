// A worker that misbehaves on demand: the name of the plan's target selects what it does in a
// trial.
//
// With `--start NAME` it already misbehaves before Hello, or before its first job.
#include <signal.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <functional>
#include <limits>
#include <map>
#include <stdexcept>
#include <string>
#include <thread>

#include "core/check_failure.h"
#include "exec/protocol.h"
#include "exec/serve_forks.h"
#include "exec/shared_box.h"
#include "exec/worker_loop.h"

namespace {

using namespace redzone;
using namespace redzone::exec;

class FakeHost final : public TrialHost {
 public:
  FakeHost(int fd, device::BlackBox& box, std::string start)
      : fd_(fd), box_(box), start_(std::move(start)) {}

  Hello hello() override { return {"fake", "1.2.3", 90, "13.0", 1 << 30}; }
  bool device_lost() const override { return lost_; }

  Observation run(const Plan& plan, const TrialSpec& trial) override {
    ++runs_;
    // The state in which a device leaves the black box inside the second call.
    box_.phase = device::Phase::running;
    box_.call_ended = 0;
    box_.call_begun = 1;
    device::copy_name(box_.kernel, "fake_kernel");
    // "a+b": does a in the first trial of the plan, b in the others.
    const std::string& all = plan.target;
    const auto plus = all.find('+');
    const bool first = trial.mode.poison == 0;
    config_ = calls_of(plan).front()->call.config;
    act(plus == std::string::npos ? all : first ? all.substr(0, plus) : all.substr(plus + 1));
    Observation seen;
    seen.end = lost_ || refused_ ? End::fault : End::completed;
    if (lost_ || refused_) seen.fault.emplace().code = "CUDA_ERROR_ILLEGAL_ADDRESS";
    // For the tests: the process, how many trials it has run, how it was started, and which trial
    // this was.
    seen.message = std::to_string(::getpid()) + " " + std::to_string(runs_) + " " + start_;
    seen.bytes = trial.mode.poison;
    return seen;
  }

 private:
  void act(const std::string& what) {
    static const std::map<std::string, void (FakeHost::*)()> acts = {
        {"ok", &FakeHost::ok},
        {"also-ok", &FakeHost::ok},
        {"busy", &FakeHost::busy},
        {"segv", &FakeHost::segv},
        {"abort", &FakeHost::abort_with_words},
        {"fault-record", &FakeHost::fault_record},
        {"exit-3", &FakeHost::exit_3},
        {"tell-of-a-check", &FakeHost::tell_of_a_check},
        {"exit-of-a-check", &FakeHost::exit_of_a_check},
        {"device-lost", &FakeHost::device_lost_now},
        {"hang", &FakeHost::hang},
        {"hang-ignoring-term", &FakeHost::hang_ignoring_term},
        {"slow-with-signs", &FakeHost::slow_with_signs},
        {"sign-then-silence", &FakeHost::sign_then_silence},
        {"refused", &FakeHost::refused},
        {"mapping-slow", &FakeHost::mapping_slow},
        {"reference-slow", &FakeHost::reference_slow},
        {"reference-forever", &FakeHost::reference_forever},
        {"endless-reference", &FakeHost::endless_reference},
        {"drip", &FakeHost::drip},
        {"flood", &FakeHost::flood},
        {"flood-forever", &FakeHost::flood_forever},
        {"rubbish", &FakeHost::rubbish},
        {"wrong-version", &FakeHost::wrong_version},
        {"wrong-checksum", &FakeHost::wrong_checksum},
        {"bad-payload", &FakeHost::bad_payload},
        {"unknown-type", &FakeHost::unknown_type},
        {"huge-length", &FakeHost::huge_length},
        {"truncated", &FakeHost::truncated},
        {"truncated-exit", &FakeHost::truncated_exit},
        {"close-socket", &FakeHost::close_socket},
        {"wrong-job", &FakeHost::wrong_job},
        {"wrong-call", &FakeHost::wrong_call},
        {"two-in-a-bool", &FakeHost::two_in_a_bool},
        {"wrong-marks", &FakeHost::wrong_marks},
        {"wrong-trial", &FakeHost::wrong_trial},
        {"second-hello", &FakeHost::second_hello},
        {"early-job-done", &FakeHost::early_job_done},
        {"throw", &FakeHost::throw_up},
        {"orphan", &FakeHost::leave_an_orphan},
        {"killed", &FakeHost::killed},
        {"maps-much", &FakeHost::map_much},
    };
    (this->*acts.at(what))();
  }

  void ok() {}
  // 300 ms of a processor.
  void busy() {
    constexpr std::clock_t kTime = CLOCKS_PER_SEC * 3 / 10;
    for (const std::clock_t begun = std::clock(); std::clock() - begun < kTime;) continue;
  }
  void segv() { ::raise(SIGSEGV); }
  void abort_with_words() {
    std::fprintf(stderr, "assertion `x < n` failed\n");
    std::abort();
  }
  void fault_record() {
    box_.call_running = 0;
    box_.fault.signal = SIGSEGV;
    box_.fault.access = static_cast<std::uint32_t>(Access::write);
    box_.fault.side = static_cast<std::uint32_t>(Side::after);
    box_.fault.distance_bytes = 12;
    box_.fault.block[0] = 7;
    box_.fault.thread[1] = 3;
    device::copy_name(box_.fault.buffer, "y");
    box_.fault.valid = 1;
    ::_exit(device::kFaultExit);
  }
  void exit_3() { std::exit(3); }
  void tell_of_a_check() { std::fprintf(stderr, "%sits parent\n", kCheckFailedText.data()); }
  void exit_of_a_check() { ::_exit(kCheckFailedExit); }
  void device_lost_now() {
    std::fprintf(stderr, "kernel.cu:7: Assertion `i < n` failed.\n");
    lost_ = true;
  }
  void hang() {
    for (;;) ::pause();
  }
  // Takes three seconds and reports progress every tenth of a second.
  void slow_with_signs() {
    for (int i = 0; i < 30; ++i) {
      ++box_.progress;
      ::usleep(100 * 1000);
    }
  }
  // Reports progress once at the start, then nothing for three and a half seconds.
  void sign_then_silence() {
    ++box_.progress;
    ::usleep(3500 * 1000);
  }
  // Reports no progress for longer than any deadline of these tests, then enters another phase.
  // A fault after which the worker goes on.
  void refused() { refused_ = true; }
  // Memory for a call is mapped for as long as several of its deadlines.
  void mapping_slow() {
    box_.phase = device::Phase::preparing;
    ::usleep(1500 * 1000);
    ++box_.progress;
    box_.phase = device::Phase::running;
  }
  void reference_slow() {
    box_.phase = device::Phase::comparing;
    ::usleep(3500 * 1000);
    ++box_.progress;
    box_.phase = device::Phase::checking;
    ::usleep(100 * 1000);
  }
  void reference_forever() {
    box_.phase = device::Phase::comparing;
    box_.call_compared = 1;
    hang();
  }
  // Says all the time that the reference goes on.
  void endless_reference() {
    box_.phase = device::Phase::comparing;
    for (;;) {
      ++box_.progress;
      ::usleep(10 * 1000);
    }
  }
  // Sends a long message, a byte at a time.
  void drip() {
    send_damaged([](FrameHeader& h) { h.length = 32u << 20; });
    for (;;) {
      send_raw("x");
      ::usleep(10 * 1000);
    }
  }
  void hang_ignoring_term() {
    ::signal(SIGTERM, SIG_IGN);
    hang();
  }
  // Far more than any pipe holds.
  void flood() {
    const std::string line(1023, 'f');
    for (int i = 0; i < 64 * 1024; ++i) ::dprintf(i % 2 + 1, "%s\n", line.c_str());
    if (config_.contains("touch")) std::fclose(std::fopen(get_str(config_, "touch").c_str(), "w"));
  }
  void flood_forever() {
    for (;;) flood();
  }
  void send_raw(const std::string& bytes) {
    for (std::size_t sent = 0; sent < bytes.size();) {
      const ssize_t n = ::send(fd_, bytes.data() + sent, bytes.size() - sent, MSG_NOSIGNAL);
      if (n <= 0) ::_exit(9);
      sent += static_cast<std::size_t>(n);
    }
  }
  // A well-formed result of the current trial, to be damaged.
  std::string good_frame() {
    TrialDoneMessage done;
    done.ticket = box_.job;
    done.trial = static_cast<std::uint32_t>(box_.trial);
    return encode(done).value();
  }
  void send_damaged(const std::function<void(FrameHeader&)>& damage) {
    std::string bytes = good_frame();
    FrameHeader header;
    std::memcpy(&header, bytes.data(), sizeof header);
    damage(header);
    std::memcpy(bytes.data(), &header, sizeof header);
    send_raw(bytes);
  }
  void rubbish() {
    std::string bytes;
    for (unsigned i = 0; i < 4u << 20; ++i)
      bytes.push_back(static_cast<char>(i * 2654435761u >> 24));
    send_raw(bytes);
  }
  void wrong_version() {
    send_damaged([](FrameHeader& h) { h.version += 1; });
  }
  void wrong_checksum() {
    send_damaged([](FrameHeader& h) { h.checksum ^= 1; });
  }
  void huge_length() {
    send_damaged([](FrameHeader& h) { h.length = 0xfffffff0u; });
  }
  void bad_payload() {
    // The right type and checksum, and a list of 2^32 - 1 elements inside.
    send_raw(frame(2, std::string(200, '\xff')));
  }
  void unknown_type() { send_raw(frame(999, "")); }
  void truncated() {
    send_raw(good_frame().substr(0, 20));
    hang();
  }
  void truncated_exit() {
    send_raw(good_frame().substr(0, 20));
    ::_exit(0);
  }
  void close_socket() {
    ::shutdown(fd_, SHUT_RDWR);
    ::close(fd_);
    hang();
  }
  void wrong_job() {
    TrialDoneMessage done;
    done.ticket = box_.job + 1000;
    send_raw(encode(done).value());
  }
  // A well-formed result of a call that the plan does not have.
  void wrong_call() {
    TrialDoneMessage done;
    done.ticket = box_.job;
    done.trial = static_cast<std::uint32_t>(box_.trial);
    done.observation.end = End::completed;
    done.observation.calls.resize(2);
    done.observation.calls[0].call = 0;
    done.observation.calls[1].call = 1'000'000;
    send_raw(encode(done).value());
  }
  void two_in_a_bool() {
    TrialDoneMessage done;
    done.ticket = box_.job;
    done.trial = static_cast<std::uint32_t>(box_.trial);
    std::string bytes = encode(done).value();
    const std::size_t lost = sizeof(FrameHeader) + sizeof done.ticket + sizeof done.trial;
    bytes[lost] = 2;
    send_raw(frame(2, bytes.substr(sizeof(FrameHeader))));
  }
  // Garbage in the black box, as from a write beside an object.
  void wrong_marks() {
    box_.call_begun = -7;
    box_.call_ended = std::numeric_limits<std::int32_t>::max();
    box_.call_running = 1'000'000;
    box_.fault.side = 77;
    box_.fault.access = 77;
    box_.fault.signal = -5;
    box_.fault.distance_bytes = std::numeric_limits<std::int64_t>::min();
    std::memset(box_.kernel, 0xff, sizeof box_.kernel);
    std::memset(box_.fault.buffer, 0xfe, sizeof box_.fault.buffer);
    box_.fault.valid = 1;
    ::_exit(device::kFaultExit);
  }
  void wrong_trial() {
    TrialDoneMessage done;
    done.ticket = box_.job;
    done.trial = static_cast<std::uint32_t>(box_.trial) + 1;
    send_raw(encode(done).value());
  }
  void second_hello() { send_raw(encode(HelloMessage{}).value()); }
  void early_job_done() { send_raw(encode(JobDoneMessage{box_.job}).value()); }
  void throw_up() { throw std::runtime_error("no such thing"); }
  // A child that holds the socket and the output open and outlives this process.
  void leave_an_orphan() {
    if (::fork() == 0) {
      ::signal(SIGTERM, SIG_IGN);
      hang();
    }
    ::_exit(5);
  }
  // More than fits into a gap between libraries.
  void map_much() {
    void* much = ::mmap(nullptr, std::size_t{1} << 34, PROT_NONE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    start_ = std::to_string(reinterpret_cast<std::uintptr_t>(much));
  }
  void killed() {
    ::kill(::getpid(), SIGKILL);
    hang();
  }

  int fd_;
  device::BlackBox& box_;
  std::string start_;
  Config config_;  // of the first call
  int runs_ = 0;
  bool lost_ = false, refused_ = false;
};

}  // namespace

// What a zygote does instead of serving; false if it serves.
bool misbehaves_as_zygote(const std::string& start, int fd) {
  const auto say_ready = [&] { ::send(fd, &kZygoteIsReady, 1, MSG_NOSIGNAL); };
  if (start == "never-ready")
    for (;;) ::pause();
  if (start == "dies-when-asked") {
    say_ready();
    char byte = 0;
    return ::recv(fd, &byte, 1, MSG_PEEK) >= 0;
  }
  if (start == "mute") {
    say_ready();
    for (;;) ::pause();
  }
  if (start.starts_with("answers-")) {
    say_ready();
    const std::int32_t answer = std::atoi(start.substr(start.rfind('-') + 1).c_str());
    char byte = 0;
    return ::recv(fd, &byte, 1, 0) != 1 ||
           ::send(fd, &answer, sizeof answer, MSG_NOSIGNAL) == sizeof answer;
  }
  if (start == "threads")
    std::thread([] {
      for (;;) ::pause();
    }).detach();
  return false;
}

int main(int argc, char** argv) {
  std::map<std::string, std::string> flags;
  bool zygote = false;
  for (int i = 1; i + 1 < argc; i += 2) {
    if (argv[i] == std::string("--zygote")) {
      zygote = true;
      --i;
    } else {
      flags[argv[i]] = argv[i + 1];
    }
  }
  int fd = std::atoi(flags.at("--socket-fd").c_str());
  int box_fd = std::atoi(flags.at("--black-box-fd").c_str());
  std::string start = flags["--start"];
  if (zygote) {
    if (misbehaves_as_zygote(start, fd)) return 0;
    auto forked = serve_forks(fd);
    if (!forked) return 0;
    start = "forked";
    fd = ::dup(forked->socket.get());
    box_fd = ::dup(forked->black_box.get());
  }
  if (start == "fails") {
    std::fprintf(stderr, "no device: the driver is too old\n");
    return 4;
  }
  if (start == "silent")
    for (;;) ::pause();
  if (start == "rubbish") {
    ::send(fd, "I am a web server, really", 25, MSG_NOSIGNAL);
    for (;;) ::pause();
  }
  auto box = SharedBox::attach(box_fd);
  if (!box) return 5;
  FakeHost host(fd, box->box(), start);
  if (start == "dies-idle") {
    const auto hello = encode(HelloMessage{::getpid(), host.hello()});
    ::send(fd, hello->data(), hello->size(), MSG_NOSIGNAL);
    return 6;
  }
  return worker_loop(fd, host, box->box());
}
