// Where buffers are placed, their contents before a call, and what is observed after it.
#include <algorithm>
#include <set>

#include "device/buffer_math.h"
#include "trial/bench.h"

namespace redzone::testing {
namespace {

std::uintptr_t address(const void* p) {
  return reinterpret_cast<std::uintptr_t>(p);
}

// Element 0 and region of each tensor, as the target saw them.
struct Seen {
  TensorArg arg;
  Shape strides;
  std::int64_t numel = -1;
  device::Region region;
  std::ptrdiff_t from_base() const { return static_cast<std::byte*>(arg.base) - region.base; }
  std::ptrdiff_t to_end() const {
    return region.base + region.bytes - static_cast<std::byte*>(arg.base);
  }
};

Seen seen_x(Call call, Mode mode, TargetSpec spec = double_spec()) {
  Seen seen;
  Bench* b = nullptr;
  Bench bench(
      [&](Context& ctx) {
        seen.arg = ctx.tensor("x");
        seen.strides.assign(seen.arg.strides.begin(), seen.arg.strides.end());
        seen.numel = seen.arg.numel();
        if (mode.allocator == Allocator::guard)
          seen.region = b->device.guard().region_of(seen.arg.base);
        run_double(ctx);
      },
      std::move(spec));
  b = &bench;
  EXPECT_EQ(bench.run({std::move(call)}, mode).end, End::completed);
  return seen;
}

TEST(Placement, TailEndsAtTheEndOfTheRegion) {
  // 3 x 5 floats are 60 bytes; 4 bytes of slack keep 16-byte alignment.
  const Seen seen = seen_x(call_of(3, 5), {.placement = Placement::guard_after});
  EXPECT_EQ(seen.to_end(), 64);
  EXPECT_EQ(address(seen.arg.base) % 16, 0u);
  TargetSpec tight = double_spec();
  tight.tensors[0].align_bytes = 4;
  EXPECT_EQ(seen_x(call_of(3, 5), {.placement = Placement::guard_after}, tight).to_end(), 60);
}

TEST(Placement, HeadStartsAtTheBaseOfTheRegion) {
  EXPECT_EQ(seen_x(call_of(3, 5), {.placement = Placement::guard_before}).from_base(), 0);
}

TEST(Placement, AlignsTheStorageAndNotElementZeroOfASlice) {
  Call call = call_of(3, 5);
  call.layouts["x"].offset_elems = 3;
  const Seen head = seen_x(call, {.placement = Placement::guard_before});
  EXPECT_EQ(head.from_base(), 12);
  // 72 bytes of storage: 80 keep its start aligned, element 0 is 12 bytes later.
  EXPECT_EQ(seen_x(call, {.placement = Placement::guard_after}).to_end(), 80 - 12);
}

TEST(Placement, KeepsAlignmentsLargerThanAPage) {
  TargetSpec spec = double_spec();
  spec.tensors[0].align_bytes = 1 << 16;
  for (const auto placement : {Placement::guard_after, Placement::guard_before}) {
    const Seen seen = seen_x(call_of(3, 5), {.placement = placement}, spec);
    EXPECT_EQ(address(seen.arg.base) % (1 << 16), 0u);
    EXPECT_GE(seen.from_base(), 0);
    EXPECT_GE(seen.to_end(), 60);
  }
}

TEST(Placement, AnExactAlignmentIsAnOddMultipleOfWhatIsPromised) {
  for (const std::size_t align : {4, 16, 256, 1 << 16})
    for (const auto placement : {Placement::guard_after, Placement::guard_before}) {
      TargetSpec spec = double_spec();
      spec.tensors[0].align_bytes = align;
      for (const std::int64_t columns : {1, 2, 5, 8}) {
        const Seen seen = seen_x(call_of(3, columns),
                                 {.placement = placement, .alignment = Alignment::exact}, spec);
        EXPECT_EQ(address(seen.arg.base) % (2 * align), align) << columns;
        EXPECT_GE(seen.from_base(), 0);
        EXPECT_GE(seen.to_end(), 12 * columns);
        // As near to its guard page as that allows.
        const auto away =
            placement == Placement::guard_after ? seen.to_end() - 12 * columns : seen.from_base();
        EXPECT_LT(away, static_cast<std::ptrdiff_t>(2 * align)) << columns;
      }
    }
}

TEST(Placement, OfMixedAlignmentsEachTensorHasItsOwn) {
  TargetSpec spec = double_spec();
  for (auto& tensor : spec.tensors) tensor.align_bytes = 4;
  const auto is_aligned = [](const TensorArg& t) { return address(t.base) % 16 == 0; };
  for (const auto placement : {Placement::guard_after, Placement::guard_before})
    for (const std::uint64_t seed : {1, 2, 3, 4})
      for (const std::int64_t columns : {1, 4, 5}) {
        Bench bench(
            [&](Context& ctx) {
              EXPECT_EQ(is_aligned(ctx.tensor("x")), is_aligned_further(seed, 0)) << seed;
              EXPECT_EQ(is_aligned(ctx.tensor("y")), is_aligned_further(seed, 1)) << seed;
              EXPECT_EQ(address(ctx.tensor("x").base) % 8, is_aligned_further(seed, 0) ? 0u : 4u);
              run_double(ctx);
            },
            spec);
        bench.run({call_of(3, columns, seed)},
                  {.placement = placement, .alignment = Alignment::mixed});
      }
}

TEST(Placement, WhereTheSpecIsSilentABaseCanBeAlignedToElements) {
  const Mode element = {.placement = Placement::guard_after, .alignment = Alignment::element};
  EXPECT_EQ(seen_x(call_of(3, 5), element).to_end(), 60);
  TargetSpec spoken = double_spec();
  spoken.tensors[0].align_bytes = 16;
  EXPECT_EQ(seen_x(call_of(3, 5), element, spoken).to_end(), 64);
  TargetSpec wide = double_spec();
  wide.tensors[0].dtype = DType::c128;
  EXPECT_EQ(seen_x(call_of(3, 5), element, wide).to_end(), 240);
}

// A kernel may sum in another order where a base is aligned further, and outputs of two trials are
// compared bit for bit.
TEST(Placement, ABaseThatIsNotAsPromisedHasTheSameRemainderInAllTrials) {
  for (const auto alignment : {Alignment::exact, Alignment::element, Alignment::mixed})
    for (const std::int64_t columns : {1, 2, 3, 5, 8}) {
      std::set<std::uintptr_t> remainders;
      for (const auto allocator :
           {Allocator::guard, Allocator::plain, Allocator::pool, Allocator::caching})
        for (const auto placement : {Placement::guard_after, Placement::guard_before})
          remainders.insert(address(seen_x(call_of(3, columns), {.allocator = allocator,
                                                                 .placement = placement,
                                                                 .alignment = alignment})
                                        .arg.base) %
                            16);
      EXPECT_EQ(remainders.size(), 1u) << name_of(alignment) << " " << columns;
    }
}

TargetSpec spec_of_bits_by_alignment(std::size_t align_bytes) {
  TargetSpec spec = double_spec();
  spec.alignment_changes_bits = true;
  spec.tensors[0].align_bytes = align_bytes;
  return spec;
}

TEST(Placement, WhereTheAlignmentChangesTheBitsEachBaseHasTheSameRemainderInAllTrials) {
  for (const std::size_t align : {0, 4, 16, 256, 4096})
    for (const auto alignment :
         {Alignment::promised, Alignment::exact, Alignment::element, Alignment::mixed})
      for (const std::int64_t columns : {1, 2, 3, 5, 8, 100})
        for (const std::uint64_t seed : {1, 2, 3, 4}) {
          std::set<std::uintptr_t> remainders;
          for (const auto allocator :
               {Allocator::guard, Allocator::plain, Allocator::pool, Allocator::caching})
            for (const auto placement : {Placement::guard_after, Placement::guard_before})
              remainders.insert(address(seen_x(call_of(3, columns, seed),
                                               {.allocator = allocator,
                                                .placement = placement,
                                                .alignment = alignment},
                                               spec_of_bits_by_alignment(align))
                                            .arg.base) %
                                std::max<std::size_t>(256, 2 * align));
          EXPECT_EQ(remainders.size(), 1u)
              << align << " " << name_of(alignment) << " " << columns << " " << seed;
          if (alignment != Alignment::element) {
            EXPECT_EQ(*remainders.begin() % (align == 0 ? 16 : align), 0u);
          }
          if (alignment == Alignment::exact) {
            EXPECT_NE(*remainders.begin() % (align == 0 ? 32 : 2 * align), 0u);
          }
        }
}

void peek_kernel(const float* from, float* to) {
  *to = *from;
}

TEST(Roles, AKnobDecidesWhetherAnOutputIsFilledBeforeTheCall) {
  TargetSpec spec = double_spec();
  spec.knobs = {{"adds", {std::int64_t{0}, std::int64_t{1}}}};
  spec.tensors[1].role = Role::out;
  spec.tensors[1].role_of = [](const Config& c) {
    return get_int(c, "adds") != 0 ? Role::inout : Role::out;
  };
  spec.tensors[1].fill = Fill::constant(3);
  for (const std::int64_t adds : {0, 1}) {
    float before = 0;
    Bench bench(
        [&](Context& ctx) {
          launch(ctx, "peek", peek_kernel, {}, ctx.tensor("y").data<const float>(), &before);
          run_double(ctx);
        },
        spec,
        [](ReferenceCall& call) {
          const auto x = call.input("x");
          const auto y = call.output("y");
          if (call.knob("adds") != 0) {
            EXPECT_EQ(call.input("y")[0], 3);
          }
          for (std::size_t i = 0; i < x.size(); ++i) y[i] = 2 * x[i];
        });
    Call call = call_of(1, 4);
    call.config["adds"] = adds;
    const Observation o = bench.run(plan_of({CallStep{call, 1, 0}}), {.reference = true});
    ASSERT_EQ(o.end, End::completed) << o.message;
    EXPECT_EQ(buffer(o, 0, "y").role, adds != 0 ? Role::inout : Role::out);
    EXPECT_EQ(before == 3, adds != 0) << before;
    EXPECT_EQ(o.calls[0].references[0].mismatches, 0u);
  }
}

TEST(Placement, WhereTheAlignmentChangesTheBitsATensorEndsAtItsGuardPage) {
  for (const std::uint64_t seed : {1, 2, 3, 1234567}) {
    const Call call = call_of(3, 5, seed);  // 60 bytes
    const Mode after{.placement = Placement::guard_after};
    EXPECT_EQ(seen_x(call, after, spec_of_bits_by_alignment(4)).to_end(), 60);
    EXPECT_EQ(seen_x(call, after, spec_of_bits_by_alignment(0)).to_end(), 64);
    Mode element = after;
    element.alignment = Alignment::element;
    EXPECT_EQ(seen_x(call, element, spec_of_bits_by_alignment(0)).to_end(), 60);
    const Mode exact{.placement = Placement::guard_before, .alignment = Alignment::exact};
    EXPECT_EQ(seen_x(call, exact, spec_of_bits_by_alignment(16)).from_base(), 16);
  }
}

// Nothing is compared to the bit, so nothing is gained by giving up a guard page.
TEST(Placement, OfANondeterministicTargetTouchesBothGuardPages) {
  TargetSpec spec = spec_of_bits_by_alignment(4);
  spec.deterministic = false;
  EXPECT_EQ(seen_x(call_of(3, 5), {.placement = Placement::guard_before}, spec).from_base(), 0);
  EXPECT_EQ(seen_x(call_of(3, 5), {.placement = Placement::guard_after}, spec).to_end(), 60);
}

TEST(Shapes, AKnobDecidesThemAndTheReferenceReadsIt) {
  TargetSpec spec = double_spec();
  spec.knobs = {{"turned", {std::int64_t{0}, std::int64_t{1}}}};
  spec.tensors[0].shape = {};
  spec.tensors[0].shape_with_knobs = [](const Dims& d, const Config& c) {
    const Shape shape{get(d, "R"), get(d, "C")};
    return get_int(c, "turned") != 0 ? Shape{shape[1], shape[0]} : shape;
  };
  for (const std::int64_t turned : {0, 1}) {
    Bench bench(
        [](Context& ctx) {
          Matrix x = matrix(ctx.tensor("x"));
          if (ctx.knob("turned") != 0)
            x = {x.data, x.columns, x.rows, x.column_stride, x.row_stride};
          launch(ctx, "double", double_kernel, {}, x, matrix(ctx.tensor("y")));
        },
        spec,
        [](ReferenceCall& call) {
          const auto x = call.input("x");
          const auto y = call.output("y");
          const auto rows = static_cast<std::size_t>(call.dim("R")), columns = y.size() / rows;
          for (std::size_t i = 0; i < y.size(); ++i)
            y[i] = 2 * x[call.knob("turned") != 0 ? i % columns * rows + i / columns : i];
        });
    Call call = call_of(3, 5);
    call.config["turned"] = turned;
    call.layouts["x"] = {.row_padding_elems = 2};
    const Observation o = bench.run(plan_of({CallStep{call, 1, 0}}), {.reference = true});
    ASSERT_EQ(o.end, End::completed) << o.message;
    EXPECT_EQ(o.calls[0].references[0].mismatches, 0u) << turned;
  }
}

// Sums by vectors where the base allows it, so that what it gives depends on the alignment.
void sum_kernel(const float* at, std::int64_t count, float* sum) {
  float parts[4] = {};
  const std::size_t width = address(at) % 16 == 0 ? 4 : 1;
  for (std::int64_t i = 0; i < count; ++i) parts[static_cast<std::size_t>(i) % width] += at[i];
  *sum = (parts[0] + parts[1]) + (parts[2] + parts[3]);
}

TEST(Placement, AKernelThatSumsByVectorsWhereItCanGivesTheSameInAllTrials) {
  for (const auto alignment : {Alignment::exact, Alignment::element}) {
    std::set<float> sums;
    for (const auto allocator : {Allocator::guard, Allocator::caching})
      for (const auto placement : {Placement::guard_after, Placement::guard_before}) {
        float sum = 0;
        Bench bench([&](Context& ctx) {
          const TensorArg x = ctx.tensor("x");
          launch(ctx, "sum", sum_kernel, {}, x.data<float>(), x.numel(), &sum);
          run_double(ctx);
        });
        bench.run({call_of(3, 7)},
                  {.allocator = allocator, .placement = placement, .alignment = alignment});
        sums.insert(sum);
      }
    EXPECT_EQ(sums.size(), 1u) << name_of(alignment);
  }
}

TEST(Placement, EmptyTensorsLieAtTheHole) {
  for (const auto placement : {Placement::guard_after, Placement::guard_before}) {
    for (const auto alignment : {Alignment::promised, Alignment::exact}) {
      const Seen seen = seen_x(call_of(0, 5), {.placement = placement, .alignment = alignment});
      ASSERT_NE(seen.arg.base, nullptr);
      EXPECT_EQ(seen.to_end(), 0);
      EXPECT_EQ(seen.numel, 0);
    }
  }
}

TEST(Placement, HandsOutTheStridesOfTheLayout) {
  Call call = call_of(3, 5);
  call.layouts["x"] = {.row_padding_elems = 2, .transposed = true};
  const Seen seen = seen_x(call, {});
  EXPECT_EQ(seen.strides, (Shape{1, 5}));
}

TEST(Fill, InputsFollowTheSeedAndThePoisonIsInTheOutputs) {
  std::vector<float> x;
  std::vector<std::uint32_t> y;
  Bench bench([&](Context& ctx) {
    launch(
        ctx, "copy",
        +[](const float* x, const std::uint32_t* y, std::int64_t n, std::vector<float>* to_x,
            std::vector<std::uint32_t>* to_y) {
          to_x->assign(x, x + n);
          to_y->assign(y, y + n);
        },
        {}, ctx.tensor("x").data<float>(), ctx.tensor("y").data<std::uint32_t>(),
        ctx.tensor("x").numel(), &x, &y);
  });
  bench.run({call_of(2, 8, 5)}, {.poison = 0x7fc0dead});
  EXPECT_EQ(std::count(y.begin(), y.end(), 0x7fc0deadu), 16);
  const auto first = x;
  EXPECT_NE(*std::min_element(x.begin(), x.end()), *std::max_element(x.begin(), x.end()));
  bench.run({call_of(2, 8, 5)});
  EXPECT_EQ(x, first);
  bench.run({call_of(2, 8, 6)});
  EXPECT_NE(x, first);
}

// The 400 elements of x in a call with this seed.
std::vector<float> filled(const Fill& fill, std::uint64_t seed) {
  TargetSpec spec = double_spec();
  spec.tensors[0].fill = fill;
  std::vector<float> x;
  Bench bench(
      [&](Context& ctx) {
        launch(
            ctx, "copy",
            +[](const float* x, std::int64_t n, std::vector<float>* to) { to->assign(x, x + n); },
            {}, ctx.tensor("x").data<float>(), ctx.tensor("x").numel(), &x);
      },
      std::move(spec));
  bench.run({call_of(20, 20, seed)});
  return x;
}

TEST(Fill, SumsAreRealsOrSparseIntegersAsTheSeedSays) {
  const auto integers = [](const std::vector<float>& x) {
    return std::ranges::count_if(
        x, [](float v) { return v == static_cast<float>(static_cast<int>(v)); });
  };
  const auto odd = filled(Fill::sums(-0.5, 0.5), 1), even = filled(Fill::sums(-0.5, 0.5), 2);
  EXPECT_LT(std::ranges::max(odd), 0.5f);
  EXPECT_LT(integers(odd), 4);
  EXPECT_EQ(integers(even), 400);
  EXPECT_EQ(std::ranges::max(even), 2);
  EXPECT_EQ(std::ranges::min(even), -2);
}

// NaN and infinities: of 8 special values, one in 16 of all, 3.
TEST(Fill, SpecialValuesAreAmongTheRealsIfTheSeedIsEven) {
  const auto outside = [](const std::vector<float>& x) {
    return std::ranges::count_if(x, [](float v) { return !(v >= -0.5f && v < 0.5f); });
  };
  const Fill fill = Fill::special_values(-0.5, 0.5);
  EXPECT_EQ(outside(filled(fill, 1)), 0);
  EXPECT_NEAR(outside(filled(fill, 2)), 9, 8);
  EXPECT_NEAR(outside(filled(fill, 4)), 9, 8);
}

TEST(Fill, ARangeWithoutANumberIsTheTargetsFault) {
  TargetSpec spec = double_spec();
  // The registry tries a few calls, but not this one.
  spec.tensors[0].fill = Fill::integers([](const Dims& d) {
    return std::pair<std::int64_t, std::int64_t>{get(d, "R") == 2 && get(d, "C") == 4 ? 5 : 0, 0};
  });
  Bench bench(run_double, std::move(spec));
  const Observation o = bench.run({call_of(2, 4)});
  EXPECT_EQ(o.end, End::spec_error);
  EXPECT_EQ(o.message,
            "target 't', tensor 'x': the range of its fill is from 5 to 0, which holds no number");
}

TEST(Check, SeesAWriteIntoTheSlackBehindATail) {
  Bench bench([](Context& ctx) {
    run_double(ctx);
    launch(ctx, "store", store_kernel, {}, ctx.tensor("y").data<float>() + 15, 1.0f);
  });
  const Observation o = bench.run({call_of(3, 5)}, {.placement = Placement::guard_after});
  EXPECT_EQ(o.end, End::completed);
  EXPECT_GE(buffer(o, 0, "y").dirty_after, 1u);
  EXPECT_EQ(buffer(o, 0, "y").dirty_before, 0u);
  EXPECT_GE(buffer(o, 0, "y").first_dirty_byte, 60);
  EXPECT_LT(buffer(o, 0, "y").first_dirty_byte, 64);
  EXPECT_EQ(buffer(o, 0, "x").dirty_after, 0u);
}

TEST(Check, SeesAWriteBeforeASlice) {
  Bench bench([](Context& ctx) {
    run_double(ctx);
    launch(ctx, "store", store_kernel, {}, ctx.tensor("y").data<float>() - 1, 1.0f);
  });
  Call call = call_of(3, 5);
  call.layouts["y"].offset_elems = 4;
  const Observation o = bench.run({call}, {.placement = Placement::guard_before});
  EXPECT_GE(buffer(o, 0, "y").dirty_before, 1u);
  EXPECT_LT(buffer(o, 0, "y").first_dirty_byte, 0);
}

TEST(Check, SeesAWriteBetweenPaddedRows) {
  Bench bench([](Context& ctx) {
    run_double(ctx);
    launch(ctx, "store", store_kernel, {}, ctx.tensor("y").data<float>() + 5, 1.0f);
  });
  Call call = call_of(3, 5);
  call.layouts["y"].row_padding_elems = 3;
  const Observation o = bench.run({call});
  EXPECT_GE(buffer(o, 0, "y").dirty_gaps, 1u);
  EXPECT_EQ(buffer(o, 0, "y").dirty_after, 0u);
}

TEST(Check, CountsChangedInputs) {
  Bench bench([](Context& ctx) {
    run_double(ctx);
    launch(ctx, "store", store_kernel, {}, ctx.tensor("x").data<float>() + 7, 1e9f);
  });
  const Observation o = bench.run({call_of(3, 5)});
  EXPECT_EQ(buffer(o, 0, "x").changed, 1u);
  EXPECT_EQ(buffer(o, 0, "y").changed, 0u);
}

TEST(Check, CleanCallsAreClean) {
  Bench bench(run_double);
  for (const auto allocator : {Allocator::guard, Allocator::plain}) {
    const Observation o = bench.run({call_of(3, 5), call_of(1, 1)}, {.allocator = allocator});
    ASSERT_EQ(o.calls.size(), 2u);
    for (const auto& call : o.calls)
      for (const auto& b : call.buffers)
        EXPECT_EQ(b.dirty_after + b.dirty_before + b.dirty_gaps + b.changed, 0u) << b.name;
  }
}

TEST(Digest, IsTheSameWhateverThePlaceTheHistoryAndTheStorage) {
  Bench bench(run_double);
  Call call = call_of(6, 7, 42);
  const auto digest = buffer(bench.run({call}), 0, "y").digest;
  EXPECT_EQ(buffer(bench.run({call}, {.placement = Placement::guard_before}), 0, "y").digest,
            digest);
  EXPECT_EQ(buffer(bench.run({call}, {.allocator = Allocator::plain}), 0, "y").digest, digest);
  EXPECT_EQ(buffer(bench.run({call}, {.poison = 0}), 0, "y").digest, digest);
  EXPECT_EQ(buffer(bench.run({call_of(9, 9), call}), 1, "y").digest, digest);
  Call spread = call;
  spread.layouts["x"] = {.row_padding_elems = 3, .offset_elems = 1};
  spread.layouts["y"] = {.row_padding_elems = 1, .offset_elems = 5};
  EXPECT_EQ(buffer(bench.run({spread}), 0, "y").digest, digest);
  Call other = call;
  other.seed = 43;
  EXPECT_NE(buffer(bench.run({other}), 0, "y").digest, digest);
}

TEST(Digest, ShowsThePoisonOfWhatWasNotWritten) {
  Bench bench([](Context& ctx) {
    Matrix y = matrix(ctx.tensor("y"));
    Matrix x = matrix(ctx.tensor("x"));
    --x.rows;
    launch(ctx, "double", double_kernel, {}, x, y);
  });
  EXPECT_NE(buffer(bench.run({call_of(3, 5)}, {.poison = 1}), 0, "y").digest,
            buffer(bench.run({call_of(3, 5)}, {.poison = 2}), 0, "y").digest);
}

TEST(Segments, AreSeenInNothingButTheLog) {
  Bench whole(run_double);
  Bench split(run_double, double_spec(), {}, {.calls = 2});
  Bench small(run_double, double_spec(), {}, {.bytes = 2 * 4096});
  const std::vector<Call> calls = {call_of(3, 5), call_of(4, 4), call_of(1, 9), call_of(3, 5, 2),
                                   call_of(40, 40)};
  const auto expected = whole.run(calls).calls;
  EXPECT_EQ(split.run(calls).calls, expected);
  EXPECT_EQ(small.run(calls).calls, expected);
  EXPECT_EQ(whole.device.logged({"fill", "sync"}), (std::vector<std::string>{"fill", "sync"}));
  EXPECT_EQ(split.device.logged({"fill", "sync"}).size(), 4u) << "3 fills and one sync";
  EXPECT_EQ(small.device.logged({"fill"}).size(), 5u);
}

TEST(Memory, ASteadyStateTrialMapsNothing) {
  Bench bench(run_double, double_spec(), {}, {.calls = 2});
  const std::vector<Call> calls = {call_of(3, 5), call_of(4, 4), call_of(1, 9)};
  EXPECT_GT(bench.run(calls).mapping_calls, 0u);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(bench.run(calls).mapping_calls, 0u);
  EXPECT_EQ(bench.run(calls).bytes, 4 * 4096u) << "the second segment reuses the first's";
}

TEST(Memory, ShortageEndsTheTrialAndNotTheRunner) {
  Bench bench(run_double);
  bench.device.guard().most_bytes = 4096;
  EXPECT_EQ(bench.run({call_of(3, 5)}).end, End::out_of_memory);
  bench.device.guard().most_bytes = 1 << 20;
  EXPECT_EQ(bench.run({call_of(3, 5)}).end, End::completed);
}

TEST(Memory, ShortageGivesBackWhatWaitsForReuse) {
  Bench bench(run_double, double_spec(), {}, {.calls = 1});
  bench.device.guard().most_bytes = 5 * 4096;
  // Two regions of one page and two of two pages together exceed the limit.
  const Observation o = bench.run({call_of(3, 5), call_of(1, 2000)});
  EXPECT_EQ(o.end, End::completed) << o.message;
  EXPECT_EQ(o.calls.size(), 2u);
}

TEST(Memory, ATensorBeyondTheAddressSpaceDoesNotFit) {
  Bench bench(run_double);
  const std::int64_t huge = std::int64_t{1} << 31;
  EXPECT_EQ(bench.run({call_of(1, 1), call_of(1, 2), call_of(1, 3)}).calls.size(), 3u);
  const Observation o = bench.run({call_of(huge, huge)});
  EXPECT_EQ(o.end, End::out_of_memory);
  EXPECT_TRUE(o.calls.empty());
  EXPECT_FALSE(o.message.empty());
}

}  // namespace
}  // namespace redzone::testing
