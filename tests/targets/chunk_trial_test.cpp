// The chunk kernels on the host device: they agree with their references, write nothing that is not
// theirs, and give the same bits whatever the order, the launch mode, the placement and the poison.
#include <gtest/gtest.h>

#include <memory>
#include <random>

#include "core/plan_text.h"
#include "core/validate.h"
#include "device/device.h"
#include "exec/trial/trial_runner.h"
#include "targets/chunk_plugin.h"

namespace redzone::test {
namespace {

constexpr double kMostWork = 3e6;  // of one call: milliseconds on the host device

class Runner {
 public:
  Runner() : device_(device::open_host_device()) {
    for (const auto& t : chunk_targets()) {
      auto added = registry_.add({.spec = t.spec, .device = DeviceKind::host, .make = t.make});
      if (!added) throw std::runtime_error(added.error().message);
    }
    runner_ = std::make_unique<exec::TrialRunner>(*device_, registry_, DeviceKind::host, nullptr,
                                                  exec::TrialLimits{});
  }

  Observation run(const Plan& plan, const TrialSpec& trial) { return runner_->run(plan, trial); }

 private:
  std::unique_ptr<device::Device> device_;
  Registry registry_;
  std::unique_ptr<exec::TrialRunner> runner_;
};

// Requires of both trials, forwards and backwards, all that a correct target owes.
void expect_clean(Runner& runner, const Plan& plan, const TargetSpec& spec) {
  SCOPED_TRACE(print_plan(plan));
  const auto valid = validate(plan, spec);
  ASSERT_TRUE(valid) << valid.error().message;

  TrialSpec forwards;
  forwards.mode = {Launch::gated, Allocator::guard, Placement::tail, 0xffffffffu, 11};
  forwards.reference = true;
  TrialSpec backwards;
  backwards.mode = {Launch::blocking, Allocator::guard, Placement::head, 0x3f8ccccdu, 0};
  const auto count = static_cast<std::uint32_t>(calls_of(plan).size());
  for (std::uint32_t i = count; i-- > 0;) backwards.order.push_back(i);

  const Observation a = runner.run(plan, forwards);
  const Observation b = runner.run(plan, backwards);
  for (const auto* o : {&a, &b}) {
    ASSERT_EQ(o->end, End::completed) << o->message << (o->fault ? o->fault->detail : "");
    ASSERT_EQ(o->calls.size(), count);
    for (const auto& call : o->calls)
      for (const auto& buffer : call.buffers) {
        EXPECT_EQ(buffer.dirty_before + buffer.dirty_after + buffer.dirty_gaps, 0u) << buffer.name;
        EXPECT_EQ(buffer.changed, 0u) << buffer.name;
      }
  }
  for (std::uint32_t i = 0; i < count; ++i) {
    std::size_t outputs = 0;
    for (const auto& tensor : spec.tensors) outputs += tensor.role == Role::out ? 1 : 0;
    EXPECT_EQ(a.calls[i].references.size(), outputs);
    for (const auto& r : a.calls[i].references)
      EXPECT_EQ(r.mismatches, 0u) << "call " << i << " " << r.tensor << "[" << r.first_index
                                  << "]: got " << r.got << ", want " << r.want;
    ASSERT_EQ(a.calls[i].buffers.size(), b.calls[i].buffers.size());
    for (std::size_t k = 0; k < a.calls[i].buffers.size(); ++k) {
      const auto& x = a.calls[i].buffers[k];
      const auto& y = b.calls[i].buffers[k];
      ASSERT_EQ(x.name, y.name);
      if (x.scratch) continue;
      EXPECT_EQ(x.digest, y.digest) << "call " << i << " " << x.name;
    }
  }
}

class Random {
 public:
  explicit Random(std::uint64_t seed) : engine_(seed) {}

  std::size_t below(std::size_t n) { return engine_() % n; }
  template <class C>
  const auto& one_of(const C& values) {
    return values[below(values.size())];
  }
  std::int64_t one_of(std::initializer_list<std::int64_t> values) {
    return values.begin()[below(values.size())];
  }

  Dims dims() {
    const std::int64_t chunk = one_of({1, 2, 4, 8, 16, 32, 64, 128});
    const std::int64_t chunks = one_of({1, 1, 2, 3, 4, 7, 16, 17});
    return chunk_dims(one_of({1, 1, 2}), one_of({1, 2, 3}), chunk * chunks, chunk,
                      one_of({1, 2, 3, 7, 8, 24, 31, 32, 33, 64, 65, 100, 128, 129, 256}),
                      one_of({1, 2, 3, 15, 16, 17, 31, 32, 33, 64, 65, 130}));
  }

  Config config(const TargetSpec& spec) {
    Config config;
    for (const auto& knob : spec.knobs) config.emplace(knob.name, one_of(knob.values));
    return config;
  }

  Layout layout(const Shape& shape, const LayoutRules& rules) {
    Layout l;
    if (rules.row_padding && below(3) == 0) l.row_padding_elems = one_of({1, 5, 8});
    if (rules.transposed && below(3) == 0) l.transposed = true;
    if (rules.offset && below(3) == 0) l.offset_elems = one_of({1, 7, 64});
    const bool has_unit = std::find(shape.begin(), shape.end(), 1) != shape.end();
    if (rules.unit_strides && has_unit && below(3) == 0)
      l.unit_stride = one_of({0, 1, 3, std::int64_t{1} << 40});
    return l;
  }

  // A call that the host device can run in milliseconds.
  Call call(const TargetSpec& spec) {
    for (;;) {
      Call c{dims(), config(spec), {}, 1 + below(1000)};
      if (spec.work(c.dims, c.config) > kMostWork) continue;
      for (const auto& tensor : spec.tensors)
        c.layouts[tensor.name] = layout(tensor.shape(c.dims), tensor.layouts);
      return c;
    }
  }

 private:
  std::mt19937_64 engine_;
};

class ChunkTrial : public testing::TestWithParam<const char*> {};

TEST_P(ChunkTrial, RandomCallsAreCleanInEveryOrder) {
  const auto& spec = chunk_target(GetParam()).spec;
  Runner runner;
  Random random(20);
  for (int i = 0; i < 20 && !HasFailure(); ++i) {
    Plan plan{spec.name, {}, {}};
    for (int k = 0; k < 3; ++k)
      plan.steps.push_back(CallStep{random.call(spec), random.one_of({1, 1, 2}), 0});
    expect_clean(runner, plan, spec);
  }
}

// The shapes of the report that the family comes from: fine alone, an illegal access in sequence.
TEST_P(ChunkTrial, TheKnownSequenceIsClean) {
  const auto& spec = chunk_target(GetParam()).spec;
  Runner runner;
  for (const char* dtype : {"f32", "bf16"})
    for (const std::int64_t specialize : {0, 1}) {
      Config config = default_config(spec);
      config["dtype"] = dtype;
      config["specialize_n"] = specialize;
      config["block_v"] = std::int64_t{16};
      const Call first{chunk_dims(1, 2, 32 * 4, 32, 32, 16), config, {}, 1};
      const Call second{chunk_dims(1, 1, 64 * 32, 64, 128, 16), config, {}, 2};
      const Plan plan{
          spec.name, {}, {CallStep{first, 3, 0}, CallStep{second, 1, 0}, CallStep{first, 1, 0}}};
      expect_clean(runner, plan, spec);
    }
}

// Offsets past 2^31 elements, by rows far apart: the pages between them are never touched.
TEST_P(ChunkTrial, OffsetsBeyond32BitsAreClean) {
  const auto& spec = chunk_target(GetParam()).spec;
  Runner runner;
  Call call{chunk_dims(1, 2, 4, 2, 3, 3), default_config(spec), {}, 1};
  for (const auto& tensor : spec.tensors)
    call.layouts[tensor.name].row_padding_elems = std::int64_t{1} << 29;
  expect_clean(runner, {spec.name, {}, {CallStep{call, 1, 0}}}, spec);
}

// The same sums in the same order whatever the tiles and the grid: bit by bit.
TEST_P(ChunkTrial, KnobsDoNotChangeTheBits) {
  const auto& spec = chunk_target(GetParam()).spec;
  Runner runner;
  Plan plan{spec.name, {}, {}};
  for (const auto& knob : spec.knobs) {
    if (knob.name == "dtype") continue;
    for (const auto& value : knob.values) {
      Call call{chunk_dims(1, 2, 96, 32, 40, 70), default_config(spec), {}, 5};
      call.config[knob.name] = value;
      plan.steps.push_back(CallStep{call, 1, 0});
    }
  }
  const Observation o = runner.run(plan, {});
  ASSERT_EQ(o.end, End::completed) << o.message;
  for (const auto& call : o.calls)
    for (std::size_t k = 0; k < call.buffers.size(); ++k) {
      if (call.buffers[k].scratch) continue;
      EXPECT_EQ(call.buffers[k].digest, o.calls[0].buffers[k].digest)
          << "call " << call.call << " " << call.buffers[k].name;
    }
}

INSTANTIATE_TEST_SUITE_P(Family, ChunkTrial,
                         testing::Values("chunk_fwd_h", "chunk_fwd_phase1", "chunk_bwd_dh",
                                         "chunk_bwd_dh_correction"),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace redzone::test
