// Guarantees for a campaign: each boundary, layout and kind of sequence occurs.
#include <gtest/gtest.h>

#include <map>

#include "generators/plan_generator.h"
#include "tests/generators/specs.h"

namespace redzone::generators {
namespace {

using redzone::testing::attention_spec;
using redzone::testing::chunk_like_spec;

constexpr int kPlans = 20000;

// Occurrences by name; 0 for a name that never occurs.
using Counts = std::map<std::string, int>;

void expect_at_least(const Counts& counts, std::initializer_list<const char*> names, int least) {
  for (const char* name : names) {
    const auto it = counts.find(name);
    EXPECT_GE(it == counts.end() ? 0 : it->second, least) << name;
  }
}

TargetSpec one_dim_spec() {
  TargetSpec spec;
  spec.name = "one_dim";
  spec.dims = {{.name = "N", .min = 0, .max = 4096, .tile = 128}};
  spec.tensors = {{.name = "x", .shape = shape_of({"N"})}};
  return spec;
}

template <class Visit>
void for_each_plan(const TargetSpec& spec, const Budget& budget, Visit visit) {
  PlanGenerator generator(spec, budget, 2024);
  for (int i = 0; i < kPlans; ++i) visit(generator.next());
}

TEST(Distribution, BoundariesOfADim) {
  Counts counts;
  for_each_plan(one_dim_spec(), host_budget(), [&](const Plan& plan) {
    for (const auto* step : calls_of(plan)) {
      const auto n = get(step->call.dims, "N");
      ++counts[std::to_string(n)];
      counts["16k"] += n > 16 && n % 16 == 0;
      counts["16k+1"] += n > 16 && n % 16 == 1;
      counts["16k-1"] += n > 16 && n % 16 == 15;
      counts["tail"] += n > 1024 && n % 16 > 1 && n % 16 < 15;
      counts["tile multiple + 1"] += n > 129 && n % 128 == 1;
    }
  });
  expect_at_least(counts, {"0",   "1",   "2",   "3",    "7",    "8",    "9",    "15",
                           "16",  "17",  "31",  "32",   "33",   "127",  "128",  "129",
                           "255", "256", "257", "1023", "1024", "1025", "4095", "4096"},
                  150);
  expect_at_least(counts, {"16k", "16k+1", "16k-1", "tail", "tile multiple + 1"}, 500);
}

TEST(Distribution, SeveralDimsStillReachTheirBoundaries) {
  Counts counts;
  const TargetSpec spec = chunk_like_spec();
  for_each_plan(spec, host_budget(), [&](const Plan& plan) {
    for (const auto* step : calls_of(plan))
      for (const auto& [name, value] : step->call.dims)
        ++counts[name + "=" + std::to_string(value)];
  });
  expect_at_least(counts,
                  {"D=1", "D=31", "D=32", "D=33", "D=64", "D=65", "C=1", "C=16", "C=32", "C=64",
                   "C=128", "T=1", "T=16", "T=64", "T=128", "B=1", "B=8"},
                  200);
  expect_at_least(counts, {"D=127", "D=128", "T=1024", "T=8192"}, 20);
}

// A bug of one shape alone is met by chance only.
TEST(Distribution, MostShapesOfASmallTargetAreDrawn) {
  TargetSpec spec;
  spec.name = "square";
  spec.dims = {{.name = "R", .min = 1, .max = 64}, {.name = "C", .min = 1, .max = 64}};
  spec.tensors = {{.name = "x", .shape = shape_of({"R", "C"})}};
  std::map<std::pair<std::int64_t, std::int64_t>, int> drawn;
  for_each_plan(spec, host_budget(), [&](const Plan& plan) {
    for (const auto* step : calls_of(plan))
      ++drawn[{get(step->call.dims, "R"), get(step->call.dims, "C")}];
  });
  EXPECT_GT(drawn.size(), 64u * 64u / 2);
}

// Each tile costs as much as a thousand elements, so a small share of the budget pays for none.
TEST(Distribution, MostCallsDoSomethingAlsoWhereTheLeastIsDear) {
  TargetSpec spec;
  spec.name = "tiles";
  spec.dims = {{.name = "H", .min = 1, .max = 64},
               {.name = "M", .min = 0, .max = 512, .tile = 32},
               {.name = "N", .min = 0, .max = 512, .tile = 32}};
  spec.tensors = {{.name = "x", .shape = shape_of({"H", "M", "N"})}};
  spec.work = [](const Dims& d, const Config&) {
    const auto tiles = [&](const char* dim) { return (get(d, dim) + 31) / 32; };
    return 20000.0 * static_cast<double>(get(d, "H") * tiles("M") * tiles("N"));
  };
  Counts counts;
  for_each_plan(spec, host_budget(), [&](const Plan& plan) {
    for (const auto* step : calls_of(plan)) {
      const auto is = [&](const char* dim, auto what) { return what(get(step->call.dims, dim)); };
      const auto some = [](std::int64_t n) { return n > 0; };
      const bool works = is("H", some) && is("M", some) && is("N", some);
      ++counts[works ? "works" : "empty"];
      counts["several tiles"] += works && is("M", [](std::int64_t n) { return n > 32; });
    }
  });
  EXPECT_GT(counts["works"], counts["empty"]);
  expect_at_least(counts, {"empty", "several tiles"}, kPlans / 10);
}

TEST(Distribution, LayoutsOfEachKind) {
  Counts counts;
  int calls = 0, plain = 0;
  for_each_plan(chunk_like_spec(), host_budget(), [&](const Plan& plan) {
    for (const auto* step : calls_of(plan)) {
      ++calls;
      plain += step->call.layouts.empty();
      for (const auto& [name, l] : step->call.layouts) {
        counts["padded"] += l.row_padding_elems > 0 && l.row_padding_elems < 1000;
        counts["padded by one"] += l.row_padding_elems == 1;
        counts["padded, odd"] += l.row_padding_elems > 1 && l.row_padding_elems % 2 == 1;
        counts["padded by 16"] += l.row_padding_elems == 16;
        counts["transposed"] += l.transposed;
        counts["offset 1"] += l.offset_elems == 1;
        counts["offset 8"] += l.offset_elems == 8;
        counts["all parts"] += l.row_padding_elems > 0 && l.transposed && l.offset_elems > 0;
        if (!l.unit_stride) continue;
        counts["unit stride 0"] += *l.unit_stride == 0;
        counts["unit stride 1"] += *l.unit_stride == 1;
        counts["unit stride 2"] += *l.unit_stride == 2;
        counts["unit stride 2^31"] += *l.unit_stride == std::int64_t{1} << 31;
        counts["unit stride 2^40"] += *l.unit_stride == std::int64_t{1} << 40;
      }
    }
  });
  expect_at_least(counts,
                  {"padded", "padded by one", "padded, odd", "padded by 16", "transposed",
                   "offset 1", "offset 8", "all parts", "unit stride 0", "unit stride 1",
                   "unit stride 2", "unit stride 2^31", "unit stride 2^40"},
                  200);
  EXPECT_GT(plain * 2, calls) << "contiguous calls are the most";
}

TEST(Distribution, LayoutsOfAttention) {
  Counts counts;
  for_each_plan(attention_spec(), host_budget(), [&](const Plan& plan) {
    for (const auto* step : calls_of(plan)) {
      const std::int64_t row = get(step->call.dims, "H") * get(step->call.dims, "D");
      for (const auto& [name, l] : step->call.layouts) {
        counts["HND"] += l.hnd;
        counts["slice of packed rows"] += l.slice_elems == 2 * row;
        counts["slice behind others"] += l.slice_elems > 0 && l.offset_elems == l.slice_elems;
        counts["broadcast tokens"] += l.broadcast_dim == 0;
        counts["broadcast heads"] += l.broadcast_dim == 1;
        counts["reversed"] += l.reversed_dim >= 0;
        counts["padded heads"] += l.row_padding_elems > 0;
        counts["negative unit stride"] += l.unit_stride && *l.unit_stride < 0;
        counts["cut unit stride"] += l.unit_stride == std::int64_t{-2147483648};
        EXPECT_EQ((l.row_padding_elems | l.slice_elems | l.offset_elems) % 8, 0);
      }
    }
  });
  expect_at_least(
      counts,
      {"HND", "slice of packed rows", "slice behind others", "broadcast tokens", "broadcast heads",
       "reversed", "padded heads", "negative unit stride", "cut unit stride"},
      50);
}

TEST(Distribution, BigOffsetsWhenEnabled) {
  for (const bool enabled : {true, false}) {
    Budget budget = host_budget();
    budget.big_offsets = enabled;
    Counts counts;
    const TargetSpec spec = chunk_like_spec();
    for_each_plan(spec, budget, [&](const Plan& plan) {
      for (const auto* step : calls_of(plan))
        for (const auto& tensor : spec.tensors) {
          const auto view = make_view(tensor.shape_for(step->call.dims, step->call.config),
                                      step->call.layout(tensor.name));
          const auto last = view->storage_elems - 1;
          counts["2^31 bytes"] += last > (std::int64_t{1} << 31) / 4;
          counts["2^31 elements"] += last > std::int64_t{1} << 31;
          counts["2^32 elements"] += last > std::int64_t{1} << 32;
        }
    });
    if (enabled)
      expect_at_least(counts, {"2^31 bytes", "2^31 elements", "2^32 elements"}, 15);
    else
      EXPECT_EQ(counts["2^31 bytes"], 0);
  }
}

int differing_dims(const Call& a, const Call& b) {
  int n = 0;
  for (const auto& [name, value] : a.dims) n += get(b.dims, name) != value;
  return n;
}
int differing_knobs(const Call& a, const Call& b) {
  int n = 0;
  for (const auto& [name, value] : a.config) n += b.config.find(name)->second != value;
  return n;
}

TEST(Distribution, SequencesOfEachKind) {
  Counts counts;
  std::int64_t launches = 0;
  for_each_plan(chunk_like_spec(), host_budget(), [&](const Plan& plan) {
    const auto calls = calls_of(plan);
    if (std::none_of(calls.begin(), calls.end(), [](auto* c) { return c->repeat >= 1000; }))
      launches += call_count(plan);
    counts["single call"] += calls.size() == 1 && calls[0]->repeat == 1;
    counts["sync"] += calls.size() < plan.steps.size();
    counts["several calls, no sync"] += calls.size() > 1 && calls.size() == plan.steps.size();
    for (std::size_t i = 0; i < calls.size(); ++i) {
      counts["repeat"] += calls[i]->repeat > 1;
      counts["repeat 16 or more"] += calls[i]->repeat >= 16;
      counts["other data"] += calls[i]->call.seed != 1;
      if (i == 0) continue;
      const Call& a = calls[i - 1]->call;
      const Call& b = calls[i]->call;
      const int dims = differing_dims(a, b), knobs = differing_knobs(a, b);
      counts["same call twice"] += a == b;
      counts["one dim switched"] += dims == 1 && knobs == 0;
      counts["one knob switched"] += dims == 0 && knobs == 1;
      counts["C switched alone"] += dims == 1 && knobs == 0 && get(a.dims, "C") != get(b.dims, "C");
      counts["other data, same dims"] += dims == 0 && knobs == 0 && a.seed != b.seed;
      counts["other layouts, same dims"] += dims == 0 && knobs == 0 && a.layouts != b.layouts;
      counts["fresh"] += dims >= 4;
      counts["D grows"] += dims == 1 && get(b.dims, "D") > get(a.dims, "D");
      counts["D shrinks"] += dims == 1 && get(b.dims, "D") < get(a.dims, "D");
      if (i >= 2) counts["A-B-A"] += !(a == b) && calls[i - 2]->call == b;
    }
  });
  expect_at_least(
      counts,
      {"single call", "sync", "several calls, no sync", "repeat", "other data", "same call twice",
       "one dim switched", "one knob switched", "C switched alone", "other data, same dims",
       "other layouts, same dims", "fresh", "D grows", "D shrinks", "A-B-A"},
      500);
  expect_at_least(counts, {"repeat 16 or more"}, 300);
  EXPECT_GT(launches, 4 * kPlans);
  EXPECT_LT(launches, 12 * kPlans);
}

TEST(Distribution, StreamsOnRequest) {
  for (const bool enabled : {true, false}) {
    Budget budget = host_budget();
    budget.streams = enabled;
    Counts counts;
    for_each_plan(one_dim_spec(), budget, [&](const Plan& plan) {
      for (const auto& step : plan.steps) {
        if (const auto* call = std::get_if<CallStep>(&step)) counts["second"] += call->stream == 1;
        counts["wait"] += std::holds_alternative<WaitStep>(step);
      }
    });
    if (enabled) {
      expect_at_least(counts, {"second", "wait"}, 1000);
    } else {
      EXPECT_EQ(counts["second"] + counts["wait"], 0);
    }
  }
}

TEST(Distribution, GraphsAndBurstsOnRequest) {
  for (const bool enabled : {true, false}) {
    Budget budget = host_budget();
    budget.graphs = enabled;
    budget.burst = enabled ? 1500 : 0;
    Counts counts;
    for_each_plan(chunk_like_spec(), budget, [&](const Plan& plan) {
      counts["graph"] += has_graphs(plan);
      const Step* before = nullptr;
      std::map<std::int64_t, int> replays, bodies;
      for (const auto& step : plan.steps) {
        const auto* call = std::get_if<CallStep>(&step);
        const auto* replay = std::get_if<ReplayStep>(&step);
        if (call != nullptr) {
          counts["burst"] += call->repeat >= 1000 && call->repeat <= 1500;
          if (call->graph != 0) ++bodies[call->graph];
        }
        if (replay != nullptr) {
          const auto* last = std::get_if<CallStep>(before);
          counts["replayed at once"] += last != nullptr && last->graph == replay->graph;
          counts["replayed after others"] += last != nullptr && last->graph != replay->graph;
          ++replays[replay->graph];
          counts["replayed on another stream"] += replay->stream != 0;
        }
        before = &step;
      }
      for (const auto& [graph, n] : replays) counts["replayed again"] += n > 1;
      for (const auto& [graph, n] : bodies) counts["several calls"] += n > 1;
      counts["two graphs"] += bodies.size() > 1;
    });
    if (enabled) {
      expect_at_least(counts,
                      {"replayed at once", "replayed after others", "replayed again",
                       "several calls", "two graphs"},
                      300);
      expect_at_least(counts, {"graph"}, kPlans / 10);
      expect_at_least(counts, {"replayed on another stream"}, 100);
      expect_at_least(counts, {"burst"}, kPlans / 100);
    } else {
      EXPECT_EQ(counts["graph"] + counts["burst"], 0);
    }
  }
}

TEST(Distribution, ModelShapesOnAGpu) {
  Counts counts;
  const TargetSpec spec = chunk_like_spec();
  for_each_plan(spec, gpu_budget(std::int64_t{80} << 30), [&](const Plan& plan) {
    double most = 0;
    for (const auto* step : calls_of(plan))
      most = std::max(most, spec.work(step->call.dims, step->call.config));
    counts["above 1e9"] += most > 1e9;
    counts["below 1e7"] += most < 1e7;
  });
  expect_at_least(counts, {"above 1e9"}, 20);
  EXPECT_GT(counts["below 1e7"], kPlans / 2);
}

}  // namespace
}  // namespace redzone::generators
