// Outputs compared with the float64 reference, in any layout.
#include <chrono>
#include <cmath>
#include <limits>
#include <thread>

#include "core/spec_names.h"
#include "trial/bench.h"

namespace redzone::testing {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinity = std::numeric_limits<float>::infinity();

void reference_double(ReferenceCall& call) {
  const auto x = call.input("x");
  const auto y = call.output("y");
  for (std::size_t i = 0; i < x.size(); ++i) y[i] = 2 * x[i];
}

Observation run_with_reference(Bench& bench, const Call& call, std::int64_t repeat = 1) {
  Plan plan;
  plan.target = "t";
  plan.steps = {CallStep{call, repeat, 0}};
  return bench.run(plan, {.reference = true});
}

TEST(Reference, AgreesInEveryLayout) {
  Bench bench(run_double, double_spec(), reference_double);
  const std::vector<Layout> layouts = {{},
                                       {.row_padding_elems = 3},
                                       {.transposed = true},
                                       {.row_padding_elems = 2, .transposed = true},
                                       {.offset_elems = 5},
                                       {.unit_stride = 0},
                                       {.unit_stride = -1},
                                       {.reversed_dim = 0},
                                       {.row_padding_elems = 1, .reversed_dim = 0}};
  auto of_inputs = layouts;
  of_inputs.push_back({.broadcast_dim = 0});
  of_inputs.push_back({.row_padding_elems = 1, .transposed = true, .broadcast_dim = 0});
  for (const auto& x : of_inputs)
    for (const auto& y : layouts)
      for (const auto& [rows, columns] : {std::pair{4, 6}, {1, 7}, {7, 1}, {1, 1}}) {
        Call call = call_of(rows, columns);
        call.layouts = {{"x", x}, {"y", y}};
        const Observation o = run_with_reference(bench, call);
        ASSERT_EQ(o.end, End::completed) << o.message;
        ASSERT_EQ(o.calls[0].references.size(), 1u);
        const ReferenceObservation& r = o.calls[0].references[0];
        EXPECT_EQ(r.tensor, "y");
        EXPECT_EQ(r.numel, static_cast<std::uint64_t>(rows * columns));
        EXPECT_EQ(r.mismatches, 0u) << rows << "x" << columns;
        EXPECT_EQ(r.worst, 0);
      }
}

// On a device with memory of its own, small outputs are copied together once a worker has run some
// trials; its first trials map no memory for that.
TEST(Reference, OutputsAreFetchedTogetherInAWorkerOfManyTrials) {
  Bench bench(run_double, double_spec(), reference_double);
  bench.device.keep_quiet_about_calls();
  std::uint64_t mapped_by_first = 0;
  for (int trial = 0; trial < 40; ++trial) {
    bench.device.log.clear();
    Call call = call_of(4, 6);
    call.layouts = {{"y", {.row_padding_elems = 3}}};
    const Observation o = run_with_reference(bench, call);
    ASSERT_EQ(o.end, End::completed) << o.message;
    ASSERT_EQ(o.calls[0].references.size(), 1u);
    EXPECT_EQ(o.calls[0].references[0].mismatches, 0u);
    if (trial == 0) mapped_by_first = bench.device.host().mapping_calls();
    EXPECT_EQ(bench.device.logged({"copy"}).size(), trial < 16 ? 0u : 1u) << trial;
  }
  EXPECT_GT(bench.device.host().mapping_calls(), mapped_by_first);
}

// y[t][h][d] = 2 x[t][h][d], by strides.
void double_cube(const float* x, const std::int64_t* xs, float* y, const std::int64_t* ys,
                 const std::int64_t* shape) {
  for (std::int64_t t = 0; t < shape[0]; ++t)
    for (std::int64_t h = 0; h < shape[1]; ++h)
      for (std::int64_t d = 0; d < shape[2]; ++d)
        y[t * ys[0] + h * ys[1] + d * ys[2]] = 2 * x[t * xs[0] + h * xs[1] + d * xs[2]];
}

TEST(Reference, AgreesInTheLayoutsOfAttention) {
  TargetSpec spec = double_spec();
  spec.dims.push_back({.name = "T", .min = 0});
  for (auto& tensor : spec.tensors) tensor.shape = shape_of({"T", "R", "C"});
  Bench bench(
      [](Context& ctx) {
        const TensorArg x = ctx.tensor("x"), y = ctx.tensor("y");
        launch(ctx, "double", double_cube, {}, x.data<float>(), x.strides.data(), y.data<float>(),
               y.strides.data(), x.shape.data());
      },
      spec, reference_double);
  const std::vector<Layout> layouts = {{},
                                       {.hnd = true},
                                       {.slice_elems = 7},
                                       {.row_padding_elems = 2, .hnd = true, .slice_elems = 3},
                                       {.transposed = true, .hnd = true},
                                       {.offset_elems = 4, .slice_elems = 4, .reversed_dim = 1},
                                       {.hnd = true, .reversed_dim = 0}};
  for (const auto& x : layouts)
    for (const auto& y : layouts)
      for (const auto& [tokens, rows] : {std::pair{3, 4}, {1, 4}, {3, 1}, {1, 1}, {0, 2}}) {
        Call call = call_of(rows, 5);
        call.dims["T"] = tokens;
        call.layouts = {{"x", x}, {"y", y}};
        const Observation o = run_with_reference(bench, call);
        ASSERT_EQ(o.end, End::completed) << o.message;
        ASSERT_EQ(o.calls[0].references.size(), tokens == 0 ? 0u : 1u);
        for (const auto& r : o.calls[0].references)
          EXPECT_EQ(r.mismatches, 0u) << tokens << " " << rows;
        for (const auto& b : o.calls[0].buffers)
          EXPECT_EQ(b.dirty_before + b.dirty_after + b.dirty_gaps + b.changed, 0u) << b.name;
      }
}

TEST(Reference, RowsFarApartAreReadToo) {
  Bench bench(run_double, double_spec(), reference_double);
  Call call = call_of(5, 3);
  call.layouts["y"].row_padding_elems = 200000;
  EXPECT_EQ(run_with_reference(bench, call).calls[0].references[0].mismatches, 0u);
}

TEST(Reference, NamesTheFirstMismatchInLogicalOrder) {
  Bench bench(
      [](Context& ctx) {
        run_double(ctx);
        const Matrix y = matrix(ctx.tensor("y"));
        launch(ctx, "store", store_kernel, {}, &y.at(1, 2), 100.0f);
        launch(ctx, "store", store_kernel, {}, &y.at(3, 0), 50.0f);
      },
      double_spec(), reference_double);
  Call call = call_of(4, 6);
  call.layouts["y"].transposed = true;
  const ReferenceObservation r = run_with_reference(bench, call).calls[0].references[0];
  EXPECT_EQ(r.mismatches, 2u);
  EXPECT_EQ(r.first_index, 1u * 6 + 2);
  EXPECT_EQ(r.got, 100);
  EXPECT_LT(std::abs(r.want), 2);
  EXPECT_GT(r.worst, 1e6);
}

// One output element: `got` is the kernel's value, `want` the reference's.
ReferenceObservation compare(float got, double want, Tolerance tolerance = {}) {
  TargetSpec spec = double_spec();
  spec.tolerance = tolerance;
  Bench bench(
      [got](Context& ctx) {
        launch(ctx, "store", store_kernel, {}, ctx.tensor("y").data<float>(), got);
      },
      spec, [want](ReferenceCall& call) { call.output("y")[0] = want; });
  return run_with_reference(bench, call_of(1, 1)).calls[0].references[0];
}

TEST(Reference, TakesTheToleranceRelativeToWhatIsWanted) {
  EXPECT_EQ(compare(102, 100, {.abs = 0, .rel = 0.03}).mismatches, 0u);
  EXPECT_NEAR(compare(102, 100, {.abs = 0, .rel = 0.04}).worst, 0.5, 1e-6);
  EXPECT_EQ(compare(104, 100, {.abs = 0, .rel = 0.03}).mismatches, 1u);
  EXPECT_EQ(compare(0.5, 0, {.abs = 1, .rel = 0}).mismatches, 0u);
  EXPECT_EQ(compare(0, 0, {.abs = 0, .rel = 0}).mismatches, 0u);
  EXPECT_EQ(compare(0.5, 0, {.abs = 0, .rel = 0}).mismatches, 1u);
}

// An index that is wrong by one is not a rounding.
TEST(Reference, IntegersHaveTheAbsoluteToleranceOfTheTargetAlone) {
  const auto mismatches = [](DType dtype, Tolerance tolerance, std::optional<Tolerance> own) {
    TargetSpec spec = double_spec();
    spec.tensors[1].dtype = dtype;
    spec.tensors[1].tolerance = own;
    spec.tolerance = tolerance;
    Bench bench(
        [dtype](Context& ctx) {
          void* const y = ctx.tensor("y").base;
          if (dtype == DType::i32)
            launch(
                ctx, "store", +[](std::int32_t* at) { *at = 300'001; }, {},
                static_cast<std::int32_t*>(y));
          else
            launch(ctx, "store", store_kernel, {}, static_cast<float*>(y), 300'001.0f);
        },
        spec, [](ReferenceCall& call) { call.output("y")[0] = 300'000; });
    return run_with_reference(bench, call_of(1, 1)).calls[0].references[0].mismatches;
  };
  EXPECT_EQ(mismatches(DType::f32, {}, {}), 0u);
  EXPECT_EQ(mismatches(DType::i32, {}, {}), 1u);
  EXPECT_EQ(mismatches(DType::i32, {.abs = 0, .rel = 0.5}, {}), 1u);
  EXPECT_EQ(mismatches(DType::i32, {.abs = 1, .rel = 0}, {}), 0u);
  EXPECT_EQ(mismatches(DType::i32, {}, Tolerance{.abs = 0, .rel = 1e-5}), 0u);
}

TEST(Reference, NanAndInfinitiesMatchOnlyThemselves) {
  EXPECT_EQ(compare(kNan, kNan).mismatches, 0u);
  EXPECT_EQ(compare(kNan, 1).mismatches, 1u);
  EXPECT_EQ(compare(1, kNan).mismatches, 1u);
  EXPECT_EQ(compare(kInfinity, kInfinity).mismatches, 0u);
  EXPECT_EQ(compare(-kInfinity, kInfinity).mismatches, 1u);
  EXPECT_EQ(compare(1, kInfinity).mismatches, 1u);
  EXPECT_EQ(compare(kInfinity, 1).mismatches, 1u);
  EXPECT_EQ(compare(kInfinity, 1).worst, static_cast<double>(kInfinity));
}

TEST(Reference, OfInoutStartsFromTheInitialValues) {
  TargetSpec spec = double_spec();
  spec.tensors = {{.name = "a", .role = Role::inout, .shape = shape_of({"R", "C"})}};
  Bench bench(
      [](Context& ctx) {
        launch(ctx, "double", double_kernel, {}, matrix(ctx.tensor("a")), matrix(ctx.tensor("a")));
      },
      spec,
      [](ReferenceCall& call) {
        EXPECT_EQ(call.input("a").size(), 12u);
        for (double& v : call.output("a")) v *= 2;
      });
  EXPECT_EQ(run_with_reference(bench, call_of(3, 4)).calls[0].references[0].mismatches, 0u);
  const Observation o = run_with_reference(bench, call_of(3, 4), 3);
  ASSERT_EQ(o.calls[0].references.size(), 1u) << "of the last repeat";
  EXPECT_EQ(o.calls[0].references[0].mismatches, 0u);
}

TEST(Reference, SeesExactlyTheValuesOfTheKernel) {
  for (const DType dtype : enumerators<DType>()) {
    TargetSpec spec = double_spec();
    for (auto& t : spec.tensors) t.dtype = dtype;
    spec.tensors[0].fill = dtype == DType::i32 || dtype == DType::u8
                               ? Fill::integers([](const Dims&) {
                                   return std::pair{0, 100};
                                 })
                               : Fill::uniform(-100, 100);
    spec.tolerance = {0, 0};
    Bench bench(
        [&](Context& ctx) {
          const auto bytes = static_cast<std::size_t>(ctx.tensor("x").numel()) * dtype_bytes(dtype);
          launch(
              ctx, "copy", +[](void* to, const void* from, std::size_t n) { memcpy(to, from, n); },
              {}, ctx.tensor("y").base, ctx.tensor("x").base, bytes);
        },
        spec,
        [](ReferenceCall& call) {
          const auto x = call.input("x");
          std::copy(x.begin(), x.end(), call.output("y").begin());
        });
    const ReferenceObservation r = run_with_reference(bench, call_of(8, 8)).calls[0].references[0];
    EXPECT_EQ(r.mismatches, 0u) << name_of(dtype);
    EXPECT_EQ(r.numel, 64u * static_cast<unsigned>(reals_per_element(dtype))) << name_of(dtype);
  }
}

struct Complex {
  float re, im;
};
struct ComplexMatrix {
  Complex* data;
  std::int64_t rows, columns, row_stride, column_stride;
};

// y = conj(x), by strides.
void conjugate(ComplexMatrix x, ComplexMatrix y) {
  for (std::int64_t r = 0; r < x.rows; ++r)
    for (std::int64_t c = 0; c < x.columns; ++c) {
      const Complex z = x.data[r * x.row_stride + c * x.column_stride];
      y.data[r * y.row_stride + c * y.column_stride] = {z.re, -z.im};
    }
}

TargetSpec complex_spec() {
  TargetSpec spec = double_spec();
  for (auto& t : spec.tensors) {
    t.dtype = DType::c64;
    t.layouts = {.row_padding = true,
                 .transposed = true,
                 .offset = true,
                 .unit_strides = true,
                 .broadcast = t.role == Role::in,
                 .reversed = true};
  }
  spec.tolerance = {0, 0};
  return spec;
}

void run_conjugate(Context& ctx) {
  const auto of = [&](const char* name) {
    const TensorArg t = ctx.tensor(name);
    return ComplexMatrix{t.data<Complex>(), t.shape[0], t.shape[1], t.strides[0], t.strides[1]};
  };
  launch(ctx, "conjugate", conjugate, {}, of("x"), of("y"));
}

void reference_conjugate(ReferenceCall& call) {
  const auto x = call.input("x");
  const auto y = call.output("y");
  ASSERT_EQ(x.size(), y.size());
  for (std::size_t i = 0; i < x.size(); i += 2) {
    EXPECT_NE(x[i], x[i + 1]);
    y[i] = x[i];
    y[i + 1] = -x[i + 1];
  }
}

void sample_conjugate(SampledCall& call) {
  const auto rows = call.rows("y");
  for (std::size_t r = 0; r < rows.size(); ++r) {
    const auto x = call.input("x", rows[r], 1);
    const auto y = call.output("y", r);
    ASSERT_EQ(x.size(), y.size());
    for (std::size_t i = 0; i < x.size(); i += 2) {
      y[i] = call.input_at("x", rows[r], static_cast<std::int64_t>(i));
      y[i + 1] = -x[i + 1];
    }
  }
}

TEST(Reference, SeesBothPartsOfComplexElementsInEveryLayout) {
  Bench whole(run_conjugate, complex_spec(), reference_conjugate);
  TargetSpec sampled = complex_spec();
  sampled.sampled_rows = 3;
  Bench rows(run_conjugate, sampled, reference_conjugate, {.reference_bytes = 1200},
             sample_conjugate);
  const std::vector<Layout> layouts = {{},
                                       {.row_padding_elems = 3},
                                       {.transposed = true},
                                       {.row_padding_elems = 2, .transposed = true},
                                       {.offset_elems = 5},
                                       {.unit_stride = 0},
                                       {.row_padding_elems = 1, .reversed_dim = 0}};
  auto of_inputs = layouts;
  of_inputs.push_back({.row_padding_elems = 1, .transposed = true, .broadcast_dim = 0});
  for (const auto& x : of_inputs)
    for (const auto& y : layouts)
      for (const auto& [n, columns] : {std::pair{5, 6}, {1, 7}, {7, 1}, {1, 1}}) {
        Call call = call_of(n, columns);
        call.layouts = {{"x", x}, {"y", y}};
        const bool large = n * columns == 30;  // too large for the limit of `rows`
        for (Bench* bench : {&whole, &rows}) {
          const Observation o = run_with_reference(*bench, call);
          ASSERT_EQ(o.end, End::completed) << o.message;
          ASSERT_EQ(o.calls[0].references.size(), 1u);
          const ReferenceObservation& r = o.calls[0].references[0];
          EXPECT_EQ(r.mismatches, 0u) << n << "x" << columns;
          const int compared = bench == &rows && large ? 3 : n;
          EXPECT_EQ(r.numel, static_cast<std::uint64_t>(2 * columns * compared));
          for (const auto& buffer : o.calls[0].buffers)
            EXPECT_EQ(buffer.dirty_gaps + buffer.dirty_before + buffer.dirty_after + buffer.changed,
                      0u);
        }
      }
}

// The imaginary part of the last element is wrong.
TEST(Reference, NamesThePartThatIsWrong) {
  Bench bench(
      [](Context& ctx) {
        run_conjugate(ctx);
        const TensorArg y = ctx.tensor("y");
        launch(ctx, "spoil", store_kernel, {}, y.data<float>() + 2 * y.numel() - 1, 9.0f);
      },
      complex_spec(), reference_conjugate);
  const ReferenceObservation r = run_with_reference(bench, call_of(3, 4)).calls[0].references[0];
  EXPECT_EQ(r.mismatches, 1u);
  EXPECT_EQ(r.first_index, 23u);
  EXPECT_EQ(r.got, 9);
}

TEST(Reference, IsLeftOutWhereNotAskedForTooLargeOrAbsent) {
  // 10 inputs, 10 outputs, and twice the 10 elements of one tensor.
  Bench small(run_double, double_spec(), reference_double, {.reference_bytes = 320});
  EXPECT_EQ(run_with_reference(small, call_of(2, 5)).calls[0].references.size(), 1u);
  const Observation large = run_with_reference(small, call_of(2, 6));
  EXPECT_EQ(large.calls[0].references.size(), 0u);
  EXPECT_EQ(large.calls[0].comparison, Comparison::too_large);
  EXPECT_EQ(small.run({call_of(2, 5)}).calls[0].references.size(), 0u);
  Bench none(run_double);
  EXPECT_EQ(run_with_reference(none, call_of(2, 5)).calls[0].references.size(), 0u);
}

// There is nothing to compare, so the reference is not called.
TEST(Reference, IsNotAskedAboutOutputsWithoutAnElement) {
  Bench bench(run_double, double_spec(),
              [](ReferenceCall&) { throw std::runtime_error("divides by the rows"); });
  const Observation o = run_with_reference(bench, call_of(0, 5));
  EXPECT_EQ(o.end, End::completed) << o.message;
  EXPECT_EQ(o.calls[0].comparison, Comparison::empty);
  EXPECT_EQ(o.calls[0].references.size(), 0u);
}

TEST(Reference, WorksSegmentBySegment) {
  Bench bench(run_double, double_spec(), reference_double, {.calls = 1});
  Plan plan;
  plan.target = "t";
  plan.steps = {CallStep{call_of(3, 5), 2, 0}, CallStep{call_of(3, 5, 9), 1, 0}};
  const Observation o = bench.run(plan, {.reference = true});
  for (const auto& call : o.calls) {
    ASSERT_EQ(call.references.size(), 1u);
    EXPECT_EQ(call.references[0].mismatches, 0u);
  }
}

Plan plan_of_calls(const std::vector<Call>& calls) {
  Plan plan;
  plan.target = "t";
  for (const auto& call : calls) plan.steps.push_back(CallStep{call, 1, 0});
  return plan;
}

TEST(Reference, LeavesOutTheCallsThatItIsToldTo) {
  Bench bench(run_double, double_spec(), reference_double);
  const Observation o = bench.run(plan_of_calls({call_of(2, 3), call_of(3, 3), call_of(4, 3)}),
                                  {.reference = true, .left_out = {0, 2}});
  ASSERT_EQ(o.calls.size(), 3u);
  EXPECT_EQ(o.calls[0].comparison, Comparison::left_out);
  EXPECT_EQ(o.calls[1].comparison, Comparison::compared);
  EXPECT_EQ(o.calls[2].comparison, Comparison::left_out);
  EXPECT_EQ(o.calls[0].references.size(), 0u);
  EXPECT_EQ(o.calls[1].references.size(), 1u);
}

TEST(Reference, RunsOnceForEqualCallsAndComparesEach) {
  int calls = 0, runs = 0;
  Bench bench(
      [&](Context& ctx) {
        run_double(ctx);
        // The third and the fifth call are wrong, each in a different element.
        const int call = calls++;
        if (call == 2 || call == 4)
          launch(ctx, "store", store_kernel, {}, ctx.tensor("y").data<float>() + call, 1000.0f);
      },
      double_spec(),
      [&](ReferenceCall& call) {
        ++runs;
        reference_double(call);
      });
  Call padded = call_of(3, 5);
  padded.layouts["x"].row_padding_elems = 2;
  const Observation o =
      bench.run(plan_of_calls({call_of(3, 5), call_of(3, 5, 9), call_of(3, 5), padded,
                               call_of(3, 5, 9), call_of(5, 3), call_of(3, 5)}),
                {.reference = true});
  ASSERT_EQ(o.end, End::completed) << o.message;
  EXPECT_EQ(runs, 4) << "of other data, another layout and other dims each its own";
  ASSERT_EQ(o.calls.size(), 7u);
  for (std::size_t i = 0; i < o.calls.size(); ++i) {
    ASSERT_EQ(o.calls[i].references.size(), 1u);
    const ReferenceObservation& r = o.calls[i].references[0];
    EXPECT_EQ(r.numel, 15u);
    EXPECT_EQ(r.mismatches, i == 2 || i == 4 ? 1u : 0u) << i;
    EXPECT_EQ(r.first_index, i == 2 || i == 4 ? i : 0u);
  }
}

TEST(Reference, RemembersNothingOfTheCallBefore) {
  // Adds to the given contents of the output, which must therefore be zero, and writes only the
  // rows that exist.
  Bench bench(run_double, double_spec(), [](ReferenceCall& call) {
    const auto x = call.input("x");
    const auto y = call.output("y");
    EXPECT_EQ(x.size(), static_cast<std::size_t>(call.dim("R") * call.dim("C")));
    EXPECT_EQ(y.size(), x.size());
    for (std::size_t i = 0; i < x.size(); ++i) y[i] += 2 * x[i];
  });
  Call turned = call_of(70, 50, 3);
  turned.layouts = {{"x", {.transposed = true}}, {"y", {.reversed_dim = 0}}};
  for (int trial = 0; trial < 2; ++trial) {
    const Observation o = bench.run(plan_of_calls({call_of(90, 60), call_of(2, 3, 2), turned,
                                                   call_of(0, 3), call_of(90, 60, 4)}),
                                    {.reference = true});
    ASSERT_EQ(o.end, End::completed) << o.message;
    for (const auto& call : o.calls) {
      if (call.call == 3) {
        EXPECT_EQ(call.comparison, Comparison::empty) << "no row";
        continue;
      }
      ASSERT_EQ(call.references.size(), 1u);
      EXPECT_EQ(call.references[0].mismatches, 0u) << call.call;
      EXPECT_EQ(call.references[0].worst, 0) << call.call;
    }
  }
}

// Slow enough to be worth remembering.
void slow_reference(ReferenceCall& call) {
  std::this_thread::sleep_for(std::chrono::milliseconds(1));
  reference_double(call);
}

TEST(Reference, OfACallIsRememberedForLaterTrials) {
  int runs = 0;
  bool wrong = false;
  Bench bench(
      [&](Context& ctx) {
        run_double(ctx);
        if (wrong)
          launch(ctx, "store", store_kernel, {}, ctx.tensor("y").data<float>() + 3, 1000.0f);
      },
      double_spec(),
      [&](ReferenceCall& call) {
        ++runs;
        slow_reference(call);
      });
  EXPECT_EQ(run_with_reference(bench, call_of(3, 5)).calls[0].references[0].mismatches, 0u);
  wrong = true;
  const Observation again = run_with_reference(bench, call_of(3, 5));
  EXPECT_EQ(runs, 1);
  EXPECT_EQ(again.calls[0].comparison, Comparison::compared);
  EXPECT_EQ(again.calls[0].references[0].mismatches, 1u) << "the outputs are compared anew";
  EXPECT_EQ(again.calls[0].reference_us, 0u);
  Call padded = call_of(3, 5);
  padded.layouts["x"].row_padding_elems = 2;
  run_with_reference(bench, call_of(3, 5, 9));
  run_with_reference(bench, padded);
  run_with_reference(bench, call_of(5, 3));
  EXPECT_EQ(runs, 4) << "of other data, another layout and other dims each its own";
}

// Where each read waits for the device, small outputs are copied together behind the check.
TEST(Reference, SmallOutputsAreFetchedTogether) {
  bool wrong = false;
  Bench bench(
      [&](Context& ctx) {
        run_double(ctx);
        if (wrong)
          launch(ctx, "store", store_kernel, {}, &matrix(ctx.tensor("y")).at(1, 2), 1000.0f);
      },
      double_spec(), reference_double);
  bench.device.keep_quiet_about_calls();  // as on a GPU
  Call strided = call_of(3, 5, 4);
  strided.layouts["y"] = {.row_padding_elems = 3, .transposed = true, .offset_elems = 2};
  Call large = call_of(200, 100, 5);  // 80,000 bytes
  for (int trial = 0; trial < 16; ++trial) run_with_reference(bench, call_of(3, 5));
  for (const bool now : {false, true}) {
    wrong = now;
    bench.device.log.clear();
    const Observation o =
        bench.run(plan_of_calls({call_of(3, 5), strided, large}), {.reference = true});
    ASSERT_EQ(o.end, End::completed) << o.message;
    const auto log = bench.device.logged({"check", "copy", "sync"});
    EXPECT_EQ(log, (std::vector<std::string>{"check", "copy", "copy", "sync", "sync"}));
    ASSERT_EQ(o.calls.size(), 3u);
    for (const auto& call : o.calls) {
      EXPECT_EQ(call.comparison, Comparison::compared);
      ASSERT_EQ(call.references.size(), 1u);
      EXPECT_EQ(call.references[0].mismatches, wrong ? 1u : 0u) << call.call;
      if (wrong) {
        EXPECT_EQ(call.references[0].got, 1000);
      }
    }
  }
}

TEST(Reference, ThatThrowsIsAMistakeOfTheSpec) {
  Bench bench(run_double, double_spec(), [](ReferenceCall& call) { call.input("y"); });
  const Observation o = run_with_reference(bench, call_of(1, 1));
  EXPECT_EQ(o.end, End::spec_error);
  EXPECT_NE(o.message.find("'y' is not an input"), std::string::npos) << o.message;
  for (const auto& call : o.calls) EXPECT_NE(call.comparison, Comparison::compared);
}

}  // namespace
}  // namespace redzone::testing
