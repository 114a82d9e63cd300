// Some rows of the outputs compared with the target's reference for rows.
#include <rapidcheck.h>

#include <algorithm>
#include <chrono>
#include <set>
#include <thread>

#include "device/buffer_math.h"
#include "trial/bench.h"
#include "trial/reference_memory.h"
#include "trial/reference_sample.h"

namespace redzone::testing {
namespace {

TargetSpec sampled_spec(int rows) {
  TargetSpec spec = double_spec();
  spec.sampled_rows = rows;
  return spec;
}

void never(ReferenceCall&) {
  FAIL() << "the whole reference was asked for";
}

// y = 2 x, by whole rows and by single elements.
void sample_double(SampledCall& call) {
  const auto rows = call.rows("y");
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto y = call.output("y", i);
    const auto x = call.input("x", rows[i], 1);
    ASSERT_EQ(x.size(), y.size());
    for (std::size_t c = 0; c < y.size(); ++c)
      y[c] = x[c] + call.input_at("x", rows[i], static_cast<std::int64_t>(c));
  }
}

Observation run_sampled(Bench& bench, const Call& call, std::vector<std::uint32_t> left_out = {0}) {
  Plan plan;
  plan.target = "t";
  plan.steps = {CallStep{call, 1, 0}};
  return bench.run(plan, {.reference = true, .left_out = std::move(left_out)});
}

TEST(ReferenceSample, AgreesInEveryLayout) {
  Bench bench(run_double, sampled_spec(5), never, {}, sample_double);
  const std::vector<Layout> layouts = {{},
                                       {.row_padding_elems = 3},
                                       {.transposed = true},
                                       {.row_padding_elems = 2, .transposed = true},
                                       {.offset_elems = 5},
                                       {.reversed_dim = 0}};
  auto of_inputs = layouts;
  of_inputs.push_back({.broadcast_dim = 0});
  for (const auto& x : of_inputs)
    for (const auto& y : layouts)
      for (const auto& [rows, columns] : {std::pair{40, 6}, {3, 7}, {9, 1}, {1, 1}}) {
        Call call = call_of(rows, columns);
        call.layouts = {{"x", x}, {"y", y}};
        const Observation o = run_sampled(bench, call);
        ASSERT_EQ(o.end, End::completed) << o.message;
        const bool whole = rows <= 5;
        EXPECT_EQ(o.calls[0].comparison,
                  whole ? Comparison::compared : Comparison::sampled_instead);
        ASSERT_EQ(o.calls[0].references.size(), 1u);
        const ReferenceObservation& r = o.calls[0].references[0];
        EXPECT_EQ(r.tensor, "y");
        EXPECT_EQ(r.numel, static_cast<std::uint64_t>(std::min(rows, 5) * columns));
        EXPECT_EQ(r.of, whole ? 0u : static_cast<std::uint64_t>(rows * columns));
        EXPECT_EQ(r.mismatches, 0u) << rows << "x" << columns;
        EXPECT_EQ(r.worst, 0);
      }
}

// The elements of a row may lie too far apart to be read at once.
TEST(ReferenceSample, RowsWhoseElementsAreFarApartAreReadToo) {
  Bench bench(run_double, sampled_spec(3), never, {}, sample_double);
  Call call = call_of(4, 5);
  call.layouts["y"] = {.row_padding_elems = 100000, .transposed = true};
  const Observation o = run_sampled(bench, call);
  ASSERT_EQ(o.end, End::completed) << o.message;
  EXPECT_EQ(o.calls[0].references[0].mismatches, 0u);
}

// More than one window, in either direction.
TEST(ReferenceSample, LongRowsAreReadInWindows) {
  for (const bool transposed : {false, true}) {
    Bench bench(run_double, sampled_spec(3), never, {}, sample_double);
    Call call = call_of(4, 150'000);
    call.layouts["y"].transposed = transposed;
    const Observation o = run_sampled(bench, call);
    ASSERT_EQ(o.end, End::completed) << o.message;
    EXPECT_EQ(o.calls[0].references[0].numel, 450'000u);
    EXPECT_EQ(o.calls[0].references[0].mismatches, 0u);
  }
}

TEST(ReferenceSample, SeesAWrongElementOfItsRowsAndNoOther) {
  constexpr std::int64_t kRows = 40;
  std::int64_t row = 0;
  std::set<std::int64_t> asked;
  Bench bench(
      [&](Context& ctx) {
        run_double(ctx);
        launch(ctx, "store", store_kernel, {}, &matrix(ctx.tensor("y")).at(row, 2), 100.0f);
      },
      sampled_spec(4), never, {},
      [&](SampledCall& call) {
        const auto rows = call.rows("y");
        asked = {rows.begin(), rows.end()};
        sample_double(call);
      });
  Call call = call_of(kRows, 6);
  call.layouts["y"].transposed = true;
  int seen = 0;
  for (row = 0; row < kRows; ++row) {
    const ReferenceObservation r = run_sampled(bench, call).calls[0].references[0];
    EXPECT_EQ(r.mismatches, asked.count(row)) << row;
    if (r.mismatches == 0) continue;
    ++seen;
    EXPECT_EQ(r.first_index, static_cast<std::uint64_t>(row * 6 + 2));
    EXPECT_EQ(r.got, 100);
    EXPECT_LT(r.want, 3);
  }
  EXPECT_EQ(seen, 4);
  EXPECT_TRUE(asked.contains(0) && asked.contains(kRows - 1));
}

TEST(ReferenceSample, TakesThePlaceOfAReferenceThatIsTooLarge) {
  int whole = 0;
  Bench bench(
      run_double, sampled_spec(4), [&](ReferenceCall&) { ++whole; }, {.reference_bytes = 1000},
      sample_double);
  const Observation o = run_sampled(bench, call_of(20, 6), {});
  EXPECT_EQ(o.calls[0].comparison, Comparison::sampled_instead);
  EXPECT_EQ(o.calls[0].references[0].numel, 24u);
  EXPECT_EQ(whole, 0);
  EXPECT_EQ(run_sampled(bench, call_of(2, 5), {}).calls[0].comparison, Comparison::compared);
  EXPECT_EQ(whole, 1);
}

// So that a failure that the screen saw in a sample is looked for in the same rows.
TEST(ReferenceSample, IsAllThatIsComparedOfAVeryLargeCall) {
  TargetSpec spec = sampled_spec(4);
  spec.work = [](const Dims& d, const Config&) { return get(d, "R") == 20 ? 1e10 : 1.0; };
  Bench bench(
      run_double, spec, [](ReferenceCall&) {}, {}, sample_double);
  EXPECT_EQ(run_sampled(bench, call_of(20, 6), {}).calls[0].comparison, Comparison::sampled);
  EXPECT_EQ(run_sampled(bench, call_of(20, 6)).calls[0].comparison, Comparison::sampled);
  EXPECT_EQ(run_sampled(bench, call_of(21, 6), {}).calls[0].comparison, Comparison::compared);
}

TEST(ReferenceSample, OfAnInoutOutputBeginsWithItsContents) {
  TargetSpec spec = sampled_spec(3);
  spec.tensors[1].role = Role::inout;
  Bench bench([](Context&) {}, spec, never, {},
              [](SampledCall& call) {
                const auto rows = call.rows("y");
                for (std::size_t i = 0; i < rows.size(); ++i) {
                  const auto before = call.input("y", rows[i], 1);
                  EXPECT_TRUE(std::ranges::equal(before, call.output("y", i)));
                }
              });
  const Observation o = run_sampled(bench, call_of(20, 6));
  ASSERT_EQ(o.end, End::completed) << o.message;
  EXPECT_EQ(o.calls[0].references[0].mismatches, 0u);
  EXPECT_EQ(o.calls[0].references[0].worst, 0);
}

TEST(ReferenceSample, ThatAsksForWhatDoesNotExistIsAMistakeOfTheSpec) {
  const std::vector<std::pair<SampleFunction, std::string>> mistakes = {
      {[](SampledCall& c) { c.input("y", 0, 1); }, "'y' is not an input"},
      {[](SampledCall& c) { c.rows("x"); }, "'x' is not an output"},
      {[](SampledCall& c) { c.rows("z"); }, "no tensor 'z'"},
      {[](SampledCall& c) { c.output("y", 4); }, "row 4 of the 4"},
      {[](SampledCall& c) { c.input("x", 39, 2); }, "2 rows from row 39 on of 'x', which has 40"},
      {[](SampledCall& c) { c.input("x", -1, 1); }, "1 rows from row -1"},
      {[](SampledCall& c) { c.input("x", 2, std::int64_t{1} << 62); }, "which has 40"},
      {[](SampledCall& c) { c.input_at("x", 3, 6); }, "element 6 of row 3"}};
  for (const auto& [sample, text] : mistakes) {
    Bench bench(run_double, sampled_spec(4), never, {}, sample);
    const Observation o = run_sampled(bench, call_of(40, 6));
    EXPECT_EQ(o.end, End::spec_error);
    EXPECT_NE(o.message.find(text), std::string::npos) << o.message;
    EXPECT_NE(o.message.find("reference_rows()"), std::string::npos) << o.message;
    for (const auto& call : o.calls) EXPECT_EQ(call.comparison, Comparison::none);
  }
}

TEST(ReferenceSample, IsRememberedApartFromTheWholeReference) {
  int samples = 0, wholes = 0;
  const auto wait = [] { std::this_thread::sleep_for(std::chrono::milliseconds(1)); };
  Bench bench(
      run_double, sampled_spec(3),
      [&](ReferenceCall& call) {
        ++wholes;
        wait();
        for (std::size_t i = 0; i < call.input("x").size(); ++i)
          call.output("y")[i] = 2 * call.input("x")[i];
      },
      {},
      [&](SampledCall& call) {
        ++samples;
        wait();
        sample_double(call);
      });
  for (int trial = 0; trial < 2; ++trial) {
    EXPECT_EQ(run_sampled(bench, call_of(20, 6)).calls[0].references[0].numel, 18u);
    EXPECT_EQ(run_sampled(bench, call_of(20, 6), {}).calls[0].references[0].numel, 120u);
  }
  EXPECT_EQ(samples, 1);
  EXPECT_EQ(wholes, 1);
}

TEST(ReferenceMemory, ForgetsWhatWasUsedLongestAgo) {
  trial::ReferenceMemory memory(100);
  const auto outputs = [](double value, std::size_t n) {
    return trial::ExpectedOutputs{{}, std::vector<double>(n, value)};
  };
  memory.keep("t", call_of(1, 1), false, outputs(1, 40));
  memory.keep("t", call_of(2, 1), false, outputs(2, 40));
  ASSERT_NE(memory.find("t", call_of(1, 1), false), nullptr);
  memory.keep("t", call_of(3, 1), false, outputs(3, 40));
  EXPECT_EQ(memory.find("t", call_of(2, 1), false), nullptr);
  ASSERT_NE(memory.find("t", call_of(1, 1), false), nullptr);
  EXPECT_EQ((*memory.find("t", call_of(1, 1), false))[1], std::vector<double>(40, 1));
  EXPECT_EQ(memory.find("other", call_of(1, 1), false), nullptr);
  EXPECT_EQ(memory.find("t", call_of(1, 1), true), nullptr);
  memory.keep("t", call_of(4, 1), false, outputs(4, 101));
  EXPECT_EQ(memory.find("t", call_of(4, 1), false), nullptr) << "larger than all that may be kept";
  EXPECT_NE(memory.find("t", call_of(3, 1), false), nullptr);
}

TEST(ReferenceSample, IsLeftOutWithTheCallIfThereIsNoTimeForIt) {
  Bench bench(run_double, sampled_spec(4), never, {}, sample_double);
  Plan plan;
  plan.target = "t";
  plan.steps = {CallStep{call_of(20, 6), 1, 0}};
  const Observation o = bench.run(plan, {.reference = true, .left_out = {0}, .samples = false});
  EXPECT_EQ(o.calls[0].comparison, Comparison::left_out);
  EXPECT_TRUE(o.calls[0].references.empty());
}

TEST(ReferenceSample, IsNotTakenIfItIsTooLargeItself) {
  Bench bench(run_double, sampled_spec(4), never, {.reference_bytes = 320}, sample_double);
  EXPECT_EQ(run_sampled(bench, call_of(20, 6), {}).calls[0].comparison, Comparison::too_large);
}

std::set<std::int64_t> rows_asked_for(Call call) {
  std::set<std::int64_t> asked;
  Bench bench(run_double, sampled_spec(4), never, {}, [&](SampledCall& c) {
    const auto rows = c.rows("y");
    asked = {rows.begin(), rows.end()};
    sample_double(c);
  });
  run_sampled(bench, call);
  return asked;
}

// Most calls of a campaign have one of a few seeds.
TEST(ReferenceSample, DependsOnAllThatAPlanSaysOfTheCall) {
  const Call call = call_of(1000, 3);
  const auto rows = rows_asked_for(call);
  EXPECT_EQ(rows, rows_asked_for(call));
  EXPECT_NE(rows, rows_asked_for(call_of(1000, 3, 2)));
  EXPECT_NE(rows, rows_asked_for(call_of(1000, 4)));
  Call padded = call;
  padded.layouts["x"].row_padding_elems = 1;
  EXPECT_NE(rows, rows_asked_for(padded));
}

TEST(ChooseRows, TakesBothEndsAndAsManyAsAreWanted) {
  EXPECT_TRUE(rc::check("rows are ascending and exist", [] {
    const auto wanted = *rc::gen::inRange(3, 20);
    const auto outer = *rc::gen::oneOf(
        rc::gen::container<std::vector<std::int64_t>>(rc::gen::inRange<std::int64_t>(1, 9)),
        rc::gen::map(rc::gen::inRange<std::int64_t>(1, INT64_MAX),
                     [](std::int64_t size) { return std::vector<std::int64_t>{size}; }));
    RC_PRE(outer.size() <= 6);
    std::int64_t rows = 1;
    for (const std::int64_t size : outer) rows *= size;
    const auto chosen = trial::choose_rows(outer, wanted, *rc::gen::arbitrary<std::uint64_t>());
    RC_ASSERT(static_cast<std::int64_t>(chosen.size()) == std::min<std::int64_t>(rows, wanted));
    RC_ASSERT(std::adjacent_find(chosen.begin(), chosen.end(), std::greater_equal<>()) ==
              chosen.end());
    RC_ASSERT(chosen.front() == 0);
    RC_ASSERT(chosen.back() == rows - 1);
  }));
}

TEST(ChooseRows, ReachesEveryRowWithSomeSeedAndTheEdgesOften) {
  const std::vector<std::int64_t> outer = {4, 5, 6};
  std::set<std::int64_t> reached;
  int edges = 0, all = 0;
  for (std::uint64_t seed = 0; seed < 500; ++seed)
    for (const std::int64_t row : trial::choose_rows(outer, 6, device::mix(seed))) {
      reached.insert(row);
      if (row == 0 || row == 119) continue;
      ++all;
      edges += row % 6 == 5 || row / 6 % 5 == 4 || row / 30 == 3;
    }
  EXPECT_EQ(reached.size(), 120u);
  EXPECT_GT(edges, all / 2);
}

}  // namespace
}  // namespace redzone::testing
