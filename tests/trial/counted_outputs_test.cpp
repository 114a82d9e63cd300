// Outputs of which a part is valid: what lies after it does not matter, and nothing else changes.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <cstring>
#include <functional>

#include "device/host/buffers.h"
#include "generators/internal/draw.h"
#include "generators/layouts.h"
#include "trial/bench.h"
#include "trial/counted_outputs.h"

namespace redzone::testing {
namespace {

constexpr LayoutRules kOutputLayouts{.row_padding = true,
                                     .transposed = true,
                                     .offset = true,
                                     .unit_strides = true,
                                     .heads_first = true,
                                     .slice = true,
                                     .reversed = true};
constexpr std::byte kBefore{0xab};

// Sets the bytes of what is not valid to 0 by the definition of strides, element by element.
void zero_after_valid(const trial::TensorBuffer& tensor, int dim, const std::vector<double>& counts,
                      std::byte* lowest_element) {
  const View& view = tensor.view;
  const std::size_t bytes = dtype_bytes(tensor.dtype);
  Shape at(view.shape.size(), 0);
  std::function<void(std::size_t, std::size_t)> visit = [&](std::size_t d, std::size_t outer) {
    if (d == view.shape.size()) {
      if (static_cast<double>(at[static_cast<std::size_t>(dim)]) < counts[outer]) return;
      std::int64_t element = view.origin_elems;
      for (std::size_t k = 0; k < d; ++k) element += at[k] * view.strides[k];
      std::memset(lowest_element + element * static_cast<std::int64_t>(bytes), 0, bytes);
      return;
    }
    const bool before = d < static_cast<std::size_t>(dim);
    for (at[d] = 0; at[d] < view.shape[d]; ++at[d])
      visit(d + 1, before ? outer * static_cast<std::size_t>(view.shape[d]) +
                                static_cast<std::size_t>(at[d])
                          : outer);
  };
  visit(0, 0);
}

TEST(CountedOutputs, ExactlyTheElementsAfterTheValidOnesBecomeZeroInEveryLayout) {
  rc::check([] {
    Shape shape;
    for (int rank = *rc::gen::inRange(1, 6); rank > 0; --rank)
      shape.push_back(*rc::gen::inRange<std::int64_t>(0, 5));
    generators::Draw draw{rc::Random(*rc::gen::arbitrary<std::uint64_t>())};
    TensorSpec spec{.name = "y",
                    .dtype = *rc::gen::element(DType::u8, DType::bf16, DType::f32, DType::c128),
                    .shape = [shape](const Dims&) { return shape; }};
    Call call;
    call.layouts["y"] = generators::draw_layout(draw, shape, kOutputLayouts);
    trial::TensorBuffer tensor;
    RC_ASSERT(trial::describe_tensor(spec, {}, call, {}, tensor).has_value());
    const int dim = *rc::gen::inRange(0, static_cast<int>(shape.size()));
    std::int64_t outer = 1;
    for (int d = 0; d < dim; ++d) outer *= shape[static_cast<std::size_t>(d)];
    const auto counts = *rc::gen::container<std::vector<double>>(
        static_cast<std::size_t>(outer),
        rc::gen::map(rc::gen::inRange(-1, 7), [](int n) { return n * 1.0; }));

    std::vector<std::byte> memory(tensor.storage.bytes + 16, kBefore), expected = memory;
    tensor.at.storage = memory.data();
    tensor.at.data = memory.data() + tensor.storage.lead_bytes;
    zero_after_valid(tensor, dim, counts, expected.data() + tensor.storage.lead_bytes);
    trial::visit_after_valid(tensor, dim, counts, [](const device::BufferJob& job) {
      device::fill_buffer(job);
      return true;
    });
    RC_ASSERT(memory == expected);
  });
}

// y[r, :] = x[r, :] up to lengths[r]; then `after`, if it is given.
void copy_rows(Matrix x, Matrix y, const std::int32_t* lengths, float wrong, bool writes_after,
               float after) {
  for (std::int64_t r = 0; r < y.rows; ++r)
    for (std::int64_t c = 0; c < y.columns; ++c)
      if (c < lengths[r])
        y.at(r, c) = x.at(r, c) + wrong;
      else if (writes_after)
        y.at(r, c) = after;
}

void reference_rows_of(ReferenceCall& call) {
  const auto x = call.input("x"), lengths = call.input("lengths");
  const auto y = call.output("y");
  const auto columns = static_cast<std::size_t>(call.dim("C"));
  for (std::size_t i = 0; i < y.size(); ++i)
    if (static_cast<double>(i % columns) < lengths[i / columns]) y[i] = x[i];
}

TargetSpec rows_spec() {
  TargetSpec spec = double_spec();
  spec.tensors[1].counted_by = CountedBy{.tensor = "lengths", .dim = 1};
  TensorSpec lengths{.name = "lengths", .dtype = DType::i32, .shape = shape_of({"R"})};
  lengths.fill = Fill::integers([](const Dims& d) {
    return std::pair{std::int64_t{-1}, get(d, "C") + 1};
  });
  spec.tensors.push_back(lengths);
  return spec;
}

struct Rows {
  float wrong = 0;
  bool writes_after = true;
  float after = 0;

  Observation run(const Call& call, Mode mode = {}, std::int64_t repeat = 1) const {
    Bench bench(
        [this](Context& ctx) {
          launch(ctx, "rows", copy_rows, {}, matrix(ctx.tensor("x")), matrix(ctx.tensor("y")),
                 ctx.tensor("lengths").data<const std::int32_t>(), wrong, writes_after, after);
        },
        rows_spec(), reference_rows_of);
    return bench.run(plan_of({CallStep{call, repeat, 0}}), {.mode = mode, .reference = true});
  }
};

TEST(CountedOutputs, WhatTheKernelLeavesAfterTheValidPartDoesNotMatter) {
  for (const Layout& layout : {Layout{}, Layout{.transposed = true}, Layout{.offset_elems = 3}})
    for (const std::uint64_t seed : {1, 2, 3}) {
      Call call = call_of(4, 6, seed);
      call.layouts["y"] = layout;
      const auto digest_of = [](const Observation& o) {
        EXPECT_EQ(o.end, End::completed) << o.message;
        EXPECT_EQ(o.calls[0].references[0].mismatches, 0u);
        return buffer(o, 0, "y").digest;
      };
      const std::uint64_t zeros = digest_of(Rows{}.run(call));
      EXPECT_EQ(digest_of(Rows{.after = 7}.run(call)), zeros);
      EXPECT_EQ(digest_of(Rows{.writes_after = false}.run(call)), zeros);
      EXPECT_EQ(digest_of(Rows{.writes_after = false}.run(call, {.poison = 0x3f3f3f3f}, 3)), zeros);
    }
}

TEST(CountedOutputs, AWrongElementOfTheValidPartIsSeen) {
  const Observation right = Rows{}.run(call_of(4, 6)), wrong = Rows{.wrong = 1}.run(call_of(4, 6));
  EXPECT_NE(buffer(wrong, 0, "y").digest, buffer(right, 0, "y").digest);
  EXPECT_GT(wrong.calls[0].references[0].mismatches, 0u);
  EXPECT_LT(wrong.calls[0].references[0].mismatches, 24u);
}

TEST(CountedOutputs, AWriteOutsideOfTheTensorIsStillSeen) {
  Bench bench(
      [](Context& ctx) {
        launch(ctx, "rows", copy_rows, {}, matrix(ctx.tensor("x")), matrix(ctx.tensor("y")),
               ctx.tensor("lengths").data<const std::int32_t>(), 0.0f, true, 5.0f);
        launch(ctx, "store", store_kernel, {}, ctx.tensor("y").data<float>() - 1, 1.0f);
      },
      rows_spec());
  const Mode mode{.placement = Placement::guard_after};
  EXPECT_EQ(buffer(bench.run({call_of(4, 6)}, mode), 0, "y").dirty_before, 4u);
}

// What is observed of two calls with scratch, one of them captured, by a target that declares the
// count, or by one that does not and writes the zeros itself.
std::vector<BufferObservation> observed(bool counted, std::vector<Step> steps) {
  TargetSpec spec = rows_spec();
  if (!counted) spec.tensors[1].counted_by.reset();
  Bench bench(
      [=](Context& ctx) {
        for (const char* name : {"first", "second"}) {
          auto* scratch = static_cast<float*>(ctx.scratch(name, 64));
          launch(ctx, "store", store_kernel, {}, scratch + (ctx.dim("R") == 3 ? 16 : 0), 1.0f);
        }
        launch(ctx, "rows", copy_rows, {}, matrix(ctx.tensor("x")), matrix(ctx.tensor("y")),
               ctx.tensor("lengths").data<const std::int32_t>(), 0.0f, true, counted ? 5.0f : 0.0f);
      },
      spec);
  const Observation o =
      bench.run(plan_of(std::move(steps)), {.mode = {.placement = Placement::guard_before}});
  EXPECT_EQ(o.end, End::completed) << o.message;
  std::vector<BufferObservation> out;
  for (const auto& call : o.calls) out.insert(out.end(), call.buffers.begin(), call.buffers.end());
  return out;
}

TEST(CountedOutputs, NothingElseOfWhatIsObservedChanges) {
  const auto step = [](std::int64_t rows, std::int64_t repeat, std::int64_t graph = 0) {
    return CallStep{call_of(rows, 6, 2), repeat, 0, graph};
  };
  const std::vector<std::vector<Step>> plans = {
      {step(4, 1), step(3, 2), step(5, 1)},
      {step(4, 1), step(3, 1, 1), step(5, 1)},  // captured and never replayed
      {step(3, 1, 1), step(5, 1, 1), ReplayStep{1, 2, 0}, step(4, 1)}};
  for (const auto& plan : plans) {
    const auto expected = observed(false, plan);
    EXPECT_EQ(observed(true, plan), expected);
    EXPECT_GE(expected.size(), 10u);
  }
}

TEST(CountedOutputs, ACallWhoseCounterHasAnotherSizeIsAMistakeOfTheSpec) {
  TargetSpec spec = rows_spec();
  spec.tensors[2].shape = [](const Dims& d) { return Shape{get(d, "R") == 3 ? 2 : get(d, "R")}; };
  Bench bench(run_double, spec);
  EXPECT_EQ(bench.run({call_of(4, 6)}).end, End::completed);
  const Observation o = bench.run({call_of(3, 6)});
  EXPECT_EQ(o.end, End::spec_error);
  EXPECT_NE(o.message.find("counted by 'lengths', which has 2 elements, not 3"), std::string::npos)
      << o.message;
}

}  // namespace
}  // namespace redzone::testing
