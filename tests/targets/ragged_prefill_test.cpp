// Ragged prefill: the descriptors that its wrapper encodes and what it does if they are refused,
// without a device; and on the host device, through TMA and by plain loads, compared with the
// float64 reference.
#include "ragged_prefill.h"

#include <gtest/gtest.h>

#include <cmath>

#include "generators/plan_generator.h"
#include "targets/recording_context.h"
#include "tma/checker.h"
#include "trial/trial_runner.h"

namespace redzone::ragged {
namespace {

using redzone::test::RecordingContext;

const TargetSpec& spec() {
  static const TargetSpec s = RaggedPrefill::spec("t", Category::kernel);
  return s;
}

Dims dims(std::int64_t batch, std::int64_t queries, std::int64_t keys, std::int64_t width = 128) {
  return {{"B", batch}, {"TQ", queries}, {"TK", keys}, {"HQ", 32}, {"HK", 8}, {"D", width}};
}
Config config(const char* on_refusal = "error") {
  return {{"dtype", "bf16"}, {"causal", 0}, {"on_refusal", on_refusal}, {"verify", 0}};
}

struct Ran {
  explicit Ran(const Dims& dims, const Config& config = ragged::config())
      : ctx(spec(), dims, config) {}
  Ran& run(const Rules& rules = {}) {
    RaggedPrefill(rules).run(ctx);
    return *this;
  }
  tma::Descriptor descriptor(const char* name) const {
    const auto it = ctx.descriptors.find(name);
    EXPECT_NE(it, ctx.descriptors.end()) << name;
    return it == ctx.descriptors.end() ? tma::Descriptor{} : it->second;
  }

  RecordingContext ctx;
};

TEST(RaggedPrefill, EncodesTokensAndHeadsAsTheyLie) {
  Ran nhd(dims(2, 100, 300)), hnd(dims(2, 100, 300));
  const tma::Descriptor q = nhd.run().descriptor("q"), k = nhd.descriptor("k");
  EXPECT_EQ(q.rank, 3u);
  EXPECT_EQ(q.dims, (std::array<std::uint64_t, 5>{128, 100, 32, 1, 1}));
  EXPECT_EQ(q.strides[0], 32u * 128 * 2);
  EXPECT_EQ(q.strides[1], 128u * 2);
  EXPECT_EQ(k.dims, (std::array<std::uint64_t, 5>{128, 300, 8, 1, 1}));
  hnd.ctx.set_strides("q", {128, 100 * 128, 1});
  const tma::Descriptor heads = hnd.run().descriptor("q");
  EXPECT_EQ(heads.strides[0], 128u * 2);
  EXPECT_EQ(heads.strides[1], 100u * 128 * 2);
  for (const auto& d : {q, k, heads})
    EXPECT_EQ(tma::answer_of_driver(tma::check(d)), tma::Answer::accepts) << tma::text_of(d);
}

// The original report of sequence length 1: dims (128, 1, 32), strides (2, 256).
TEST(RaggedPrefill, LengthOneIsEncodedAsItCameOnlyUnderTheWrongRule) {
  Ran wrong(dims(1, 1, 1));
  for (const char* name : {"q", "k", "v"}) wrong.ctx.set_strides(name, {1, 128, 1});
  const tma::Descriptor as_it_came = wrong.run({.normalize_unit_strides = false}).descriptor("q");
  EXPECT_EQ(as_it_came.dims, (std::array<std::uint64_t, 5>{128, 1, 32, 1, 1}));
  EXPECT_EQ(as_it_came.strides[0], 2u);
  EXPECT_EQ(as_it_came.strides[1], 256u);
  const auto violations = tma::check(as_it_came);
  ASSERT_EQ(violations.size(), 1u);
  EXPECT_TRUE(violations.breaks(tma::Rule::stride_alignment));
  EXPECT_TRUE(violations.begin()->degenerate);

  for (const std::int64_t stride : {0l, 1l, -1l, 1l << 31, 1l << 40, -(1l << 31)}) {
    Ran right(dims(1, 1, 1));
    for (const char* name : {"q", "k", "v"}) right.ctx.set_strides(name, {stride, 128, 1});
    EXPECT_EQ(tma::answer_of_driver(tma::check(right.run().descriptor("q"))), tma::Answer::accepts)
        << stride;
    EXPECT_EQ(right.ctx.launches.size(), 1u);
  }
}

TEST(RaggedPrefill, LoadsPlainlyWhatNoDescriptorCanHold) {
  const Shape strides[] = {{32 * 128 + 4, 128, 1},            // 8 bytes
                           {-32 * 128, 128, 1},               // backwards
                           {std::int64_t{1} << 39, 128, 1}};  // 2^40 bytes
  for (const auto& s : strides) {
    Ran ran(dims(2, 100, 300));
    ran.ctx.set_strides("k", s);
    ran.run();
    EXPECT_TRUE(ran.ctx.descriptors.empty()) << s[0];
    EXPECT_EQ(ran.ctx.launches.size(), 1u);
  }
  Ran no_keys(dims(2, 100, 0));
  no_keys.run();
  EXPECT_TRUE(no_keys.ctx.descriptors.empty());
  EXPECT_EQ(no_keys.ctx.launches.size(), 1u) << "whose rows are zeros";
  Ran no_queries(dims(2, 0, 100));
  EXPECT_TRUE(no_queries.run().ctx.launches.empty());
}

TEST(RaggedPrefill, WhatItDoesWhenAnEncodeIsRefusedIsAKnob) {
  struct Case {
    const char* knob;
    bool ended;
    std::size_t launches, encodes;
  };
  for (const Case& c :
       {Case{"error", true, 0, 2}, {"fallback", false, 1, 2}, {"launch", false, 1, 3}}) {
    Ran ran(dims(2, 100, 300), config(c.knob));
    ran.ctx.refused = "k";
    ran.run();
    EXPECT_EQ(ran.ctx.ended(), c.ended) << c.knob;
    EXPECT_EQ(ran.ctx.launches.size(), c.launches) << c.knob;
    EXPECT_EQ(ran.ctx.descriptors.size(), c.encodes) << c.knob;
  }
}

TEST(RaggedPrefill, LaunchesAsManyTilesAsSequencesCanNeed) {
  Ran ran(dims(3, 130, 7));
  ASSERT_EQ(ran.run().ctx.launches.size(), 1u);
  const Extent grid = ran.ctx.launches[0].shape.grid;
  EXPECT_EQ(grid.x, 3 + 3) << "130 queries are 3 tiles, and each sequence may begin one more";
  EXPECT_EQ(grid.y, 32);
}

// A target "t" on the host device.
class OnHost : public testing::Test {
 protected:
  explicit OnHost(const Rules& rules = {}) {
    const auto added = registry_.add(
        {spec(), DeviceKind::host, [rules] { return std::make_unique<RaggedPrefill>(rules); }});
    EXPECT_TRUE(added.has_value());
  }
  Observation run(const Call& call) {
    Plan plan;
    plan.target = "t";
    plan.steps = {CallStep{call}};
    plan.mode.schedule_seed = ++seed_;
    return runner_.run(plan, {.mode = plan.mode, .reference = true});
  }
  // The largest error of an output, relative to the tolerance.
  double worst(const Call& call) {
    const Observation o = run(call);
    EXPECT_EQ(o.end, End::completed) << o.message << (o.fault ? o.fault->detail : "");
    EXPECT_TRUE(o.encodes.empty());
    if (o.end != End::completed || o.calls.empty()) return 1e9;
    const CallObservation& judged = o.calls[0];
    if (judged.comparison != Comparison::empty && judged.references.empty()) return 1e9;
    for (const auto& b : o.calls[0].buffers)
      EXPECT_EQ(b.dirty_before + b.dirty_after + b.dirty_gaps + b.changed, 0u) << b.name;
    return judged.comparison == Comparison::empty ? 0 : judged.references[0].worst;
  }

  Registry registry_;
  std::unique_ptr<device::Device> device_ = device::open_host_device();
  trial::TrialRunner runner_{*device_, registry_, DeviceKind::host, nullptr, {}};
  std::uint64_t seed_ = 0;
};

Call call_of(const Dims& dims, const Config& config = ragged::config()) {
  Call call;
  call.dims = dims;
  call.config = config;
  return call;
}
Dims small(std::int64_t batch, std::int64_t queries, std::int64_t keys, std::int64_t width,
           std::int64_t heads = 2, std::int64_t key_heads = 1) {
  return {{"B", batch},  {"TQ", queries},   {"TK", keys},
          {"HQ", heads}, {"HK", key_heads}, {"D", width}};
}

// The reference alone, for sequences of these lengths.
class Lengths final : public ReferenceCall {
 public:
  Lengths(const std::vector<std::int64_t>& queries, const std::vector<std::int64_t>& keys,
          std::int64_t heads, std::int64_t key_heads, std::int64_t width, int causal)
      : dims_(small(static_cast<std::int64_t>(queries.size()), sum(queries), sum(keys), width,
                    heads, key_heads)) {
    config_["causal"] = causal;
    tensors_["q_offsets"] = offsets(queries);
    tensors_["k_offsets"] = offsets(keys);
    tensors_["q"] = numbers(sum(queries) * heads * width, 0.7);
    tensors_["k"] = numbers(sum(keys) * key_heads * width, 1.3);
    tensors_["v"] = numbers(sum(keys) * key_heads * width, 0.3);
    tensors_["o"].resize(tensors_["q"].size());
  }
  const Dims& dims() const override { return dims_; }
  const Config& config() const override { return config_; }
  std::span<const double> input(std::string_view name) const override {
    return tensors_.find(name)->second;
  }
  std::span<double> output(std::string_view name) override { return tensors_.find(name)->second; }

  double at(const char* name, std::int64_t token, std::int64_t head, std::int64_t d) const {
    const std::int64_t heads = dim(std::string_view(name) == "q" || *name == 'o' ? "HQ" : "HK");
    return tensors_.find(name)->second.at(
        static_cast<std::size_t>((token * heads + head) * dim("D") + d));
  }

 private:
  static std::int64_t sum(const std::vector<std::int64_t>& lengths) {
    std::int64_t sum = 0;
    for (const auto length : lengths) sum += length;
    return sum;
  }
  static std::vector<double> offsets(const std::vector<std::int64_t>& lengths) {
    std::vector<double> out = {0};
    for (const auto length : lengths) out.push_back(out.back() + static_cast<double>(length));
    return out;
  }
  static std::vector<double> numbers(std::int64_t count, double step) {
    std::vector<double> out;
    for (std::int64_t i = 0; i < count; ++i)
      out.push_back(std::sin(step * static_cast<double>(i + 1)));
    return out;
  }

  Dims dims_;
  Config config_;
  std::map<std::string, std::vector<double>, std::less<>> tensors_;
};

// One element, by the formula in prefill_kernels.cuh. 0: the row sees no key.
double attended(const Lengths& call, std::int64_t b, std::int64_t row, std::int64_t head,
                std::int64_t column) {
  const auto of = [&](const char* name, std::int64_t i) {
    return static_cast<std::int64_t>(call.input(name)[static_cast<std::size_t>(i)]);
  };
  const std::int64_t query = of("q_offsets", b) + row, first = of("k_offsets", b);
  const std::int64_t keys = of("k_offsets", b + 1) - first;
  const std::int64_t queries = of("q_offsets", b + 1) - of("q_offsets", b);
  const std::int64_t key_head = head / (call.dim("HQ") / call.dim("HK"));
  double above = 0, below = 0;
  for (std::int64_t j = 0; j < keys; ++j) {
    if (get_int(call.config(), "causal") != 0 && j > row + keys - queries) continue;
    double score = 0;
    for (std::int64_t d = 0; d < call.dim("D"); ++d)
      score += call.at("q", query, head, d) * call.at("k", first + j, key_head, d);
    const double weight = std::exp(score / std::sqrt(static_cast<double>(call.dim("D"))));
    above += weight * call.at("v", first + j, key_head, column);
    below += weight;
  }
  return below == 0 ? 0 : above / below;
}

TEST(RaggedReference, IsThatOfTheFormula) {
  struct Case {
    std::vector<std::int64_t> queries, keys;
    std::int64_t heads, key_heads, width;
  };
  // Lengths around four, since four keys are weighed at a time.
  const Case cases[] = {{{1}, {1}, 1, 1, 1},
                        {{3}, {4}, 2, 1, 5},
                        {{2, 0, 4}, {5, 3, 0}, 4, 2, 3},
                        {{5, 1, 6}, {7, 8, 2}, 3, 3, 2},
                        {{9}, {9}, 6, 2, 16}};
  for (const Case& c : cases)
    for (const int causal : {0, 1}) {
      Lengths call(c.queries, c.keys, c.heads, c.key_heads, c.width, causal);
      RaggedPrefill({}).reference(call);
      std::int64_t token = 0;
      for (std::size_t b = 0; b < c.queries.size(); ++b)
        for (std::int64_t row = 0; row < c.queries[b]; ++row, ++token)
          for (std::int64_t head = 0; head < c.heads; ++head)
            for (std::int64_t d = 0; d < c.width; ++d)
              ASSERT_NEAR(call.at("o", token, head, d),
                          attended(call, static_cast<std::int64_t>(b), row, head, d), 1e-13)
                  << "sequence " << b << ", row " << row << ", head " << head << ", causal "
                  << causal;
    }
}

TEST_F(OnHost, AgreesWithTheReferenceAtEveryBoundary) {
  for (const auto& [batch, queries, keys] :
       {std::array{1, 1, 1}, {1, 64, 64}, {1, 65, 63}, {2, 1, 130}, {4, 70, 0}, {5, 3, 200}})
    for (const char* dtype : {"bf16", "f16"})
      for (int causal : {0, 1}) {
        Config c = config();
        c["dtype"] = dtype;
        c["causal"] = causal;
        c["verify"] = 1;
        EXPECT_LE(worst(call_of(small(batch, queries, keys, 64), c)), 1)
            << batch << " " << queries << " " << keys << " " << dtype << " " << causal;
      }
  EXPECT_LE(worst(call_of(small(2, 20, 30, 128, 4, 2))), 1);
  EXPECT_LE(worst(call_of(small(2, 20, 30, 256, 3, 3))), 1);
}

TEST_F(OnHost, AgreesWithTheReferenceInEveryLayout) {
  const Layout layouts[] = {{.hnd = true},
                            {.offset_elems = 128, .slice_elems = 256},
                            {.row_padding_elems = 8},
                            {.row_padding_elems = 3},
                            {.offset_elems = 1},
                            {.broadcast_dim = 0},
                            {.broadcast_dim = 1},
                            {.reversed_dim = 0},
                            {.unit_stride = 1},
                            {.unit_stride = -1}};
  for (const auto& layout : layouts)
    for (const std::int64_t tokens : {1, 66}) {
      Call call = call_of(small(2, tokens, tokens, 64));
      for (const char* name : {"q", "k", "v"}) call.layouts[name] = layout;
      EXPECT_LE(worst(call), 1) << tokens << " " << layout.row_padding_elems;
    }
}

TEST_F(OnHost, AgreesWithTheReferenceOnGeneratedCalls) {
  generators::Budget budget = generators::host_budget();
  budget.big_offsets = false;
  generators::PlanGenerator generator(spec(), budget, 5);
  for (int i = 0; i < 60; ++i) {
    const Plan plan = generator.next();
    for (const auto* step : calls_of(plan)) EXPECT_LE(worst(step->call), 1);
  }
}

// As the wrappers of the world do.
class EncodesAsItCame : public OnHost {
 protected:
  EncodesAsItCame() : OnHost({.normalize_unit_strides = false}) {}
  // Length 1, with the stride of one element.
  static Call length_one(const char* on_refusal) {
    Call call = call_of(small(1, 1, 1, 64), config(on_refusal));
    call.layouts["q"].unit_stride = 1;
    return call;
  }
};

TEST_F(EncodesAsItCame, AnErrorNamesTheTensorAndTheRule) {
  const Observation o = run(length_one("error"));
  ASSERT_TRUE(o.fault);
  EXPECT_EQ(o.fault->code, "tensor-map");
  EXPECT_NE(o.fault->detail.find("'q' was not encoded: stride-alignment"), std::string::npos)
      << o.fault->detail;
  ASSERT_EQ(o.encodes.size(), 1u);
  EXPECT_TRUE(o.encodes[0].degenerate);
}

TEST_F(EncodesAsItCame, LaunchingAnywayIsAFaultOfTheKernel) {
  const Observation o = run(length_one("launch"));
  ASSERT_TRUE(o.fault);
  EXPECT_EQ(o.fault->code, "invalid-tensor-map");
  EXPECT_EQ(o.fault->kernel, "ragged_prefill");
  EXPECT_NE(o.fault->detail.find("the descriptor of 'q' was not encoded"), std::string::npos)
      << o.fault->detail;
}

TEST_F(EncodesAsItCame, FallingBackIsRightAndNoted) {
  const Observation o = run(length_one("fallback"));
  EXPECT_EQ(o.end, End::completed);
  EXPECT_EQ(o.encodes.size(), 1u);
  EXPECT_LE(o.calls[0].references[0].worst, 1);
}

}  // namespace
}  // namespace redzone::ragged
