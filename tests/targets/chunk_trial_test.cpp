// The chunk kernels on a device, over calls drawn here: all chunk sizes, D and DV around their
// tiles, every knob, every layout.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "targets/chunk_plugin.h"
#include "targets/chunk_runner.h"

namespace redzone::test {
namespace {

constexpr double kMostWork = 3e6;  // of one call: milliseconds on the host device

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
        c.layouts[tensor.name] = layout(tensor.shape_for(c.dims, c.config), tensor.layouts);
      return c;
    }
  }

 private:
  std::mt19937_64 engine_;
};

using ChunkTrial = ChunkTest;

TEST_P(ChunkTrial, RandomCallsAreCleanInEveryOrder) {
  Random random(20);
  const auto outputs = static_cast<std::size_t>(
      std::count_if(spec().tensors.begin(), spec().tensors.end(),
                    [](const TensorSpec& t) { return t.role == Role::out; }));
  for (int i = 0; i < 20 && !HasFailure(); ++i) {
    Plan plan{spec().name, {}, {}};
    for (int k = 0; k < 3; ++k)
      plan.steps.push_back(CallStep{random.call(spec()), random.one_of({1, 1, 2}), 0});
    EXPECT_EQ(runner().expect_clean(plan, spec()), 3 * outputs);
  }
}

// The shapes of the original report: correct alone, an illegal access in sequence.
TEST_P(ChunkTrial, TheKnownSequenceIsClean) {
  for (const char* dtype : {"f32", "bf16"})
    for (const std::int64_t specialize : {0, 1}) {
      Config config = default_config(spec());
      config["dtype"] = dtype;
      config["specialize_n"] = specialize;
      config["block_v"] = std::int64_t{16};
      const Call first{chunk_dims(1, 2, 32 * 4, 32, 32, 16), config, {}, 1};
      const Call second{chunk_dims(1, 1, 64 * 32, 64, 128, 16), config, {}, 2};
      const Plan plan{
          spec().name, {}, {CallStep{first, 3, 0}, CallStep{second, 1, 0}, CallStep{first, 1, 0}}};
      runner().expect_clean(plan, spec());
    }
}

// One tensor after another with its rows so far apart that its offsets pass 2^31 elements. The
// memory between the rows is never touched.
TEST_P(ChunkTrial, OffsetsBeyond32BitsAreClean) {
  for (const auto& tensor : spec().tensors) {
    Call call{chunk_dims(1, 2, 4, 2, 3, 3), default_config(spec()), {}, 1};
    std::int64_t rows = 1;
    const Shape shape = tensor.shape_for(call.dims, call.config);
    for (std::size_t k = 0; k + 1 < shape.size(); ++k) rows *= shape[k];
    call.layouts[tensor.name].row_padding_elems = (std::int64_t{1} << 31) / (rows - 1) + 1;
    runner().expect_clean({spec().name, {}, {CallStep{call, 1, 0}}}, spec());
  }
}

// Calls that are compared in a sample of their rows, as a campaign does with large ones.
TEST_P(ChunkTrial, SampledRowsAgreeWithTheReferenceForRows) {
  Random random(17);
  for (int i = 0; i < 30; ++i) {
    const Plan plan{spec().name, {}, {CallStep{random.call(spec()), 1, 0}}};
    const Observation o = runner().run(plan, {.reference = true, .left_out = {0}});
    ASSERT_EQ(o.end, End::completed) << o.message;
    EXPECT_FALSE(o.calls[0].references.empty());
    for (const auto& r : o.calls[0].references) {
      EXPECT_EQ(r.mismatches, 0u) << i << ": " << r.tensor << ": " << r.got << ", not " << r.want;
      EXPECT_GT(r.numel, 0u);
      if (r.of > 0) {
        EXPECT_EQ(o.calls[0].comparison, Comparison::sampled_instead);
        EXPECT_LT(r.numel, r.of);
      }
    }
  }
}

// The same sums in the same order for any tiles and grid: equal bit by bit.
TEST_P(ChunkTrial, KnobsDoNotChangeTheBits) {
  Plan plan{spec().name, {}, {}};
  for (const auto& knob : spec().knobs) {
    if (knob.name == "dtype") continue;
    for (const auto& value : knob.values) {
      Call call{chunk_dims(1, 2, 96, 32, 40, 70), default_config(spec()), {}, 5};
      call.config[knob.name] = value;
      plan.steps.push_back(CallStep{call, 1, 0});
    }
  }
  const Observation o = runner().run(plan, {});
  ASSERT_EQ(o.end, End::completed) << o.message;
  for (const auto& call : o.calls)
    for (std::size_t k = 0; k < call.buffers.size(); ++k) {
      if (call.buffers[k].scratch) continue;
      EXPECT_EQ(call.buffers[k].digest, o.calls[0].buffers[k].digest)
          << "call " << call.call << " " << call.buffers[k].name;
    }
}

INSTANTIATE_TEST_SUITE_P(Family, ChunkTrial, all_chunk_targets(), target_name);

}  // namespace
}  // namespace redzone::test
