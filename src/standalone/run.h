// Runtime of an exported program: makes the calls of one plan on guarded memory, and checks for the
// failure. Each program that `redzone export --standalone` writes contains it, so it depends only
// on the API of a target and the rules for the contents of buffers.
//
// The machine is an interface: CUDA's device memory, streams and launches in the program (cuda.h),
// a fake in the tests.
#pragma once

#include <redzone/target.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "device/buffer_math.h"

namespace redzone::standalone {

// A call or the machine failed: the program prints the reason and ends.
struct Failed {
  std::string why;
};

struct Region {
  std::byte* base = nullptr;  // the adjacent guard pages before and after it are not mapped
  std::size_t bytes = 0;
};

// Errors are thrown as Failed. Streams are numbered from 0.
class Machine {
 public:
  virtual ~Machine() = default;
  virtual Region map(std::size_t bytes) = 0;  // lives until the end of the program
  virtual void write(void* to, const void* from, std::size_t bytes) = 0;
  virtual void read(void* to, const void* from, std::size_t bytes) = 0;
  virtual void* pinned_memory(std::size_t bytes) = 0;  // pinned, zeroed
  virtual void* stream(int index) = 0;
  virtual void wait(int stream, int on) = 0;
  virtual void copy(void* to, const void* from, std::size_t bytes, int stream) = 0;
  virtual void memset(void* to, std::uint8_t value, std::size_t bytes, int stream) = 0;
  virtual void launch(const KernelRef& kernel, const LaunchShape& shape, const LaunchArgs& args,
                      int stream) = 0;
  virtual KernelRef variant(const VariantRequest& request) = 0;
  virtual EncodeStatus encode(const tma::Descriptor& descriptor, TensorMap& map) = 0;
  virtual void hold() = 0;         // blocks: work enqueued from now on does not run
  virtual void release() = 0;      // lets the blocked work run
  virtual void synchronize() = 0;  // releases; waits for all streams; throws any error
  virtual int multiprocessors() = 0;
  virtual DeviceKind kind() = 0;
};

struct TensorData {
  const char* name;
  DType dtype;
  Role role;
  std::vector<std::int64_t> shape, strides;  // elements
  std::size_t storage_bytes, lead_bytes;  // lead_bytes: from the start of the storage to element 0
  std::size_t align;
  device::BufferJob job;          // without addresses and poison
  std::int64_t origin_bytes = 0;  // from the lowest element to element [0, 0, ..]
  std::size_t skew_bytes = 0;     // offset of the storage from a multiple of `align`
};

struct CallData {
  Dims dims;
  Config config;
  std::int64_t repeat;
  int stream;
  std::vector<TensorData> tensors;
};

struct StepData {
  enum class Kind { call, sync, wait };
  Kind kind;
  int call;        // index, for a call
  int stream, on;  // for a wait
};

enum class Order { blocking, async, gated };

// One way to run the plan.
struct TrialData {
  const char* what;  // for people
  Order order;
  bool tail;  // buffers end at the guard page; otherwise they start at it
  std::uint32_t poison;
  bool alone;  // each call uses a new instance of the target after all earlier work has completed
};

struct Program {
  const char* target;
  int streams;  // number of the plan's streams; the target's side streams follow
  int side_streams;
  bool ordered;  // calls on different streams do not overlap
  std::vector<CallData> calls;
  std::vector<StepData> steps;
  std::vector<TrialData> trials;  // all must give the same outputs
};

// A buffer with canaries around its storage and in its gaps.
class Buffer {
 public:
  Buffer(Machine& machine, std::string name, const device::BufferJob& job, std::size_t bytes,
         std::size_t lead_bytes, std::size_t align, const TrialData& trial, std::size_t skew = 0)
      : machine_(&machine), name_(std::move(name)), job_(job) {
    const Region region = machine.map(std::max<std::size_t>(bytes + align + skew, 1));
    std::byte* const end = region.base + region.bytes;
    const auto down = [&](std::byte* p) { return p - reinterpret_cast<std::uintptr_t>(p) % align; };
    std::byte* const storage =
        (trial.tail ? down(end - bytes - skew) : down(region.base + align - 1)) + skew;
    const auto window = [](std::ptrdiff_t room) {
      return std::min(static_cast<std::size_t>(room),
                      static_cast<std::size_t>(device::kCanaryWindowBytes));
    };
    before_bytes_ = window(storage - region.base);
    begin_ = storage - before_bytes_;
    storage_bytes_ = bytes;
    lead_bytes_ = lead_bytes;
    job_.data = storage + lead_bytes;
    job_.poison = trial.poison;
    job_.canary = device::canary_for(trial.poison);
    image_.resize(before_bytes_ + bytes + window(end - (storage + bytes)));
    for (std::size_t i = 0; i < image_.size(); ++i)
      image_[i] = device::canary_byte(job_.canary, begin_ + i);
    for_each_element([&](std::size_t at, std::size_t width, std::int64_t index) {
      const std::uint64_t bits = device::fill_bits(job_, index);
      std::memcpy(image_.data() + at, &bits, width);
    });
    machine.write(begin_, image_.data(), image_.size());
  }

  void* data() const { return job_.data; }
  const std::string& name() const { return name_; }

  // Returns a description of an error in the memory, if any; sets the digest of the elements.
  std::optional<std::string> check(bool must_be_unchanged, std::uint64_t& digest) const {
    std::vector<std::uint8_t> now(image_.size());
    machine_->read(now.data(), begin_, now.size());
    std::vector<bool> element(now.size());
    std::optional<std::string> problem;
    device::ElementDigest elements(dtype_bytes(static_cast<DType>(job_.dtype)));
    for_each_element([&](std::size_t at, std::size_t width, std::int64_t index) {
      std::uint64_t bits = 0;
      std::memcpy(&bits, now.data() + at, width);
      elements.add(bits);
      for (std::size_t i = 0; i < width; ++i) element[at + i] = true;
      if (must_be_unchanged && !problem && std::memcmp(&now[at], &image_[at], width) != 0)
        problem = "the input '" + name_ + "' was overwritten at element " + std::to_string(index);
    });
    digest = elements.value();
    for (std::size_t i = 0; i < now.size() && !problem; ++i)
      if (!element[i] && now[i] != image_[i]) problem = where(i) + " was overwritten";
    return problem;
  }

 private:
  template <class Do>
  void for_each_element(Do act) const {
    const std::size_t width = dtype_bytes(static_cast<DType>(job_.dtype));
    const std::int64_t run = job_.size[job_.rank - 1];
    for (std::int64_t index = 0; index < job_.numel; ++index) {
      const std::int64_t offset = device::run_offset(job_, index / run) + index % run;
      act(before_bytes_ + lead_bytes_ + static_cast<std::size_t>(offset) * width, width, index);
    }
  }
  std::string where(std::size_t at) const {
    if (at < before_bytes_)
      return "the byte " + std::to_string(before_bytes_ - at) + " before '" + name_ + "'";
    if (at < before_bytes_ + storage_bytes_) return "a gap between the rows of '" + name_ + "'";
    return "the byte " + std::to_string(at - before_bytes_ - storage_bytes_ + 1) + " after '" +
           name_ + "'";
  }

  Machine* machine_;
  std::string name_;
  device::BufferJob job_;
  std::byte* begin_ = nullptr;  // start of the canaries before the storage
  std::size_t before_bytes_ = 0, storage_bytes_ = 0, lead_bytes_ = 0;
  std::vector<std::uint8_t> image_;  // the bytes written from begin_ on
};

// A job that fills `bytes` bytes with poison or zeros.
inline device::BufferJob raw_job(std::size_t bytes, bool zeros = false) {
  device::BufferJob job = {};
  job.rank = 1;
  job.stride[0] = 1;
  job.numel = job.size[0] = static_cast<std::int64_t>(bytes);
  job.dtype = static_cast<std::uint8_t>(DType::u8);
  job.fill = zeros ? device::FillKind::constant : device::FillKind::poison;
  return job;
}

struct Named {
  std::string name;
  void* data;
  std::size_t bytes;
};

// State with the lifetime of a trial.
struct TrialState {
  Machine& machine;
  const Program& program;
  const TrialData& trial;
  std::deque<Buffer> raw;  // scratch, workspaces, allocations
  std::vector<Named> workspaces = {}, growing = {}, host = {};
};

class CallContext final : public Context {
 public:
  CallContext(TrialState& state, const CallData& call, std::deque<Buffer>& tensors)
      : state_(state), call_(call), tensors_(tensors) {}

  // Index of the call in the plan, from 0.
  std::size_t number() const {
    return static_cast<std::size_t>(&call_ - state_.program.calls.data());
  }
  const Dims& dims() const override { return call_.dims; }
  const Config& config() const override { return call_.config; }
  DeviceKind device() const override { return state_.machine.kind(); }
  int multiprocessors() const override { return state_.machine.multiprocessors(); }
  TensorArg tensor(std::string_view name) const override {
    for (std::size_t i = 0; i < call_.tensors.size(); ++i)
      if (name == call_.tensors[i].name)
        return {static_cast<std::byte*>(tensors_[i].data()) + call_.tensors[i].origin_bytes,
                call_.tensors[i].dtype, call_.tensors[i].shape, call_.tensors[i].strides};
    throw std::out_of_range("no tensor '" + std::string(name) + "'");
  }
  void* stream() const override { return stream(0); }
  void* stream(int index) const override { return state_.machine.stream(index_of(index)); }
  void wait(int stream, int on) override { state_.machine.wait(index_of(stream), index_of(on)); }
  void* scratch(std::string_view name, std::size_t bytes, std::size_t align) override {
    return add(name, raw_job(bytes), bytes, align);
  }
  void* scratch(std::string_view name, std::size_t bytes, std::size_t align,
                const ScratchNeed&) override {
    return bytes == 0 ? nullptr : scratch(name, bytes, align);
  }
  void* workspace(std::string_view name, std::size_t bytes, std::size_t align) override {
    return kept(state_.workspaces, name, bytes,
                [&] { return add(name, raw_job(bytes, true), bytes, align); });
  }
  void* growing_workspace(std::string_view name, std::size_t bytes) override {
    const auto same = [&](const Named& n) { return n.name == name; };
    auto held = std::find_if(state_.growing.begin(), state_.growing.end(), same);
    if (held == state_.growing.end())
      held = state_.growing.insert(held, {std::string(name), nullptr, 0});
    if (held->data == nullptr || bytes > held->bytes) {
      *held = {std::string(name), allocate(name, bytes, 0), bytes};
      memset(held->data, 0, bytes, 0);
    }
    return held->data;
  }
  void* allocate(std::string_view name, std::size_t bytes, int) override {
    return add(name, raw_job(bytes), bytes, 256);
  }
  void free(void*, int) override {}  // guarded memory is not reused
  void* pinned_memory(std::string_view name, std::size_t bytes) override {
    return kept(state_.host, name, bytes, [&] { return state_.machine.pinned_memory(bytes); });
  }
  void copy(void* to, const void* from, std::size_t bytes, int stream) override {
    state_.machine.copy(to, from, bytes, index_of(stream));
    enqueued();
  }
  void memset(void* to, std::uint8_t value, std::size_t bytes, int stream) override {
    state_.machine.memset(to, value, bytes, index_of(stream));
    enqueued();
  }
  EncodeStatus encode_tiled(std::string_view, const tma::Descriptor& descriptor,
                            TensorMap& map) override {
    return state_.machine.encode(descriptor, map);
  }
  KernelRef variant(const VariantRequest& request) override {
    return state_.machine.variant(request);
  }
  void launch(const KernelRef& kernel, const LaunchShape& shape, const LaunchArgs& args) override {
    state_.machine.launch(kernel, shape, args, index_of(shape.stream));
    enqueued();
  }
  void begin_capture() override { throw Failed{"graphs of the target are not supported here"}; }
  GraphRef end_capture() override { return {}; }
  void replay(const GraphRef&, int) override {}
  void unsupported(std::string reason) override { throw Failed{"refused: " + reason}; }
  void fail(std::string code, std::string message) override { throw Failed{code + ": " + message}; }
  bool ended() const override { return false; }

 private:
  void enqueued() {
    if (state_.trial.order == Order::blocking) state_.machine.synchronize();
  }
  int index_of(int stream) const {
    return stream == 0 ? call_.stream : state_.program.streams + stream - 1;
  }
  void* add(std::string_view name, const device::BufferJob& job, std::size_t bytes,
            std::size_t align) {
    return state_.raw
        .emplace_back(state_.machine, std::string(name), job, bytes, 0, align, state_.trial)
        .data();
  }
  template <class Make>
  void* kept(std::vector<Named>& all, std::string_view name, std::size_t bytes, Make make) {
    for (const Named& n : all) {
      if (n.name != name) continue;
      if (bytes > n.bytes)
        throw Failed{"'" + n.name + "' is asked for with more bytes than it has"};
      return n.data;
    }
    return all.emplace_back(Named{std::string(name), make(), bytes}).data;
  }

  TrialState& state_;
  const CallData& call_;
  std::deque<Buffer>& tensors_;
};

// Digests of the outputs by call and tensor; 0 for inputs. Throws Failed.
using Digests = std::vector<std::vector<std::uint64_t>>;

inline Digests run_trial(Machine& machine, const Program& program, const TrialData& trial,
                         const TargetFactory& make) {
  TrialState state{machine, program, trial, {}};
  std::deque<std::deque<Buffer>> tensors(program.calls.size());
  for (std::size_t c = 0; c < program.calls.size(); ++c)
    for (const TensorData& t : program.calls[c].tensors)
      tensors[c].emplace_back(machine, t.name, t.job, t.storage_bytes, t.lead_bytes, t.align, trial,
                              t.skew_bytes);
  std::vector<std::unique_ptr<Target>> targets;  // must outlive the work that they enqueued
  targets.push_back(make());
  int last_stream = -1;
  if (trial.order == Order::gated) machine.hold();
  for (const StepData& step : program.steps) {
    if (step.kind == StepData::Kind::wait) {
      machine.wait(step.stream, step.on);
    } else if (step.kind == StepData::Kind::sync) {
      machine.synchronize();
      if (trial.order == Order::gated) machine.hold();
    } else {
      const auto c = static_cast<std::size_t>(step.call);
      const CallData& call = program.calls[c];
      if (trial.alone) {
        machine.synchronize();
        state.workspaces.clear();
        state.growing.clear();
        state.host.clear();
        targets.push_back(make());
      }
      if (program.ordered && last_stream >= 0 && last_stream != call.stream)
        machine.wait(call.stream, last_stream);
      last_stream = call.stream;
      CallContext context(state, call, tensors[c]);
      for (std::int64_t i = 0; i < call.repeat; ++i) targets.back()->run(context);
    }
  }
  machine.synchronize();
  Digests digests(program.calls.size());
  for (std::size_t c = 0; c < program.calls.size(); ++c)
    for (std::size_t t = 0; t < tensors[c].size(); ++t) {
      const Role role = program.calls[c].tensors[t].role;
      std::uint64_t digest = 0;
      if (auto problem = tensors[c][t].check(role == Role::in, digest))
        throw Failed{*problem + " (call " + std::to_string(c + 1) + ")"};
      digests[c].push_back(role == Role::in ? 0 : digest);
    }
  for (const Buffer& buffer : state.raw) {
    std::uint64_t digest = 0;
    if (auto problem = buffer.check(false, digest)) throw Failed{*problem};
  }
  return digests;
}

// Exit code: 1 the failure shows, 0 it does not.
inline int run(Machine& machine, const Program& program, const TargetFactory& make) {
  std::vector<Digests> seen;
  for (const TrialData& trial : program.trials) {
    try {
      seen.push_back(run_trial(machine, program, trial, make));
      std::printf("%s: ran\n", trial.what);
    } catch (const Failed& failed) {
      std::printf("%s: FAILED: %s\n", trial.what, failed.why.c_str());
      return 1;
    } catch (const std::exception& e) {
      std::printf("%s: FAILED: the target threw: %s\n", trial.what, e.what());
      return 1;
    }
  }
  for (std::size_t i = 1; i < seen.size(); ++i)
    for (std::size_t c = 0; c < program.calls.size(); ++c)
      for (std::size_t t = 0; t < seen[0][c].size(); ++t) {
        if (seen[0][c][t] == seen[i][c][t]) continue;
        std::printf("FAILED: '%s' of call %zu is not the same in \"%s\" and in \"%s\"\n",
                    program.calls[c].tensors[t].name, c + 1, program.trials[0].what,
                    program.trials[i].what);
        return 1;
      }
  std::printf("no failure\n");
  return 0;
}

}  // namespace redzone::standalone
