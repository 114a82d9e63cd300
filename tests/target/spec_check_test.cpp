#include "target/spec_check.h"

#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <memory>
#include <utility>

namespace redzone {
namespace {

TargetSpec good() {
  TargetSpec spec;
  spec.name = "chunk_fwd.h2";
  spec.dims = {{.name = "T", .min = 0, .max = 64, .multiple_of = 4},
               {.name = "C", .values = {1, 8}}};
  spec.constraints = {
      Constraint::divides("C", "T"),
      Constraint::predicate("T is small", [](const Dims&, const Config&) { return true; })};
  spec.tensors = {{.name = "x", .shape = [](const Dims& d) {
                     return Shape{get(d, "T") / get(d, "C"), get(d, "C")};
                   }}};
  spec.knobs = {{.name = "num_warps", .values = {4}}};
  return spec;
}

// x becomes an output that the new tensor n counts.
void count_x(TargetSpec& spec, int dim, DType type, Shape of_counter) {
  spec.tensors[0].role = Role::out;
  spec.tensors[0].counted_by = CountedBy{.tensor = "n", .dim = dim};
  spec.tensors.push_back(
      {.name = "n", .dtype = type, .shape = [of_counter](const Dims&) { return of_counter; }});
}

TEST(SpecCheck, AcceptsAGoodSpec) {
  EXPECT_EQ(spec_problem(good()), std::nullopt);
}

TEST(SpecCheck, ShapesThatThrowWhereTheConstraintsDoNotHoldAreLeftToThePlans) {
  TargetSpec spec = good();
  spec.tensors[0].shape = [](const Dims& d) -> Shape {
    if (get(d, "T") < 64) throw std::runtime_error("T < 64");
    return {get(d, "T")};
  };
  EXPECT_EQ(spec_problem(spec),
            "the shape function of tensor 'x' threw \"T < 64\" for C = 1, T = 4");
  spec.constraints[1] = Constraint::predicate(
      "T is large", [](const Dims& d, const Config&) { return get(d, "T") >= 64; });
  EXPECT_EQ(spec_problem(spec), std::nullopt);
}

TEST(SpecCheck, NoFunctionMayAskForWhatIsNotDeclared) {
  const auto never = [](const Dims&, const Config&) { return false; };
  struct Case {
    std::string problem;
    std::function<void(TargetSpec&)> spoil;
  };
  const std::vector<Case> cases = {
      {"the shape function of tensor 'x': no dim 'D'",
       [](auto& s) {
         s.tensors[0].shape = shape_of({"T", "D"});
       }},
      {"the dtype function of tensor 'x': no knob 'dtype'",
       [](auto& s) {
         s.tensors[0].dtype_of = [](const Config& c) {
           return get_str(c, "dtype") == "f32" ? DType::f32 : DType::bf16;
         };
       }},
      {"the range of the fill of tensor 'x': no dim 'R'",
       [](auto& s) {
         s.tensors[0].fill = Fill::offsets([](const Dims& d) { return get(d, "R"); });
       }},
      {"constraint 'T is small': no dim 'K'",
       [](auto& s) {
         s.constraints[1].holds = [](const Dims& d, const Config&) { return get(d, "K") < 5; };
       }},
      {"the tolerance function: knob 'num_warps' is of another type",
       [](auto& s) {
         s.tolerance_of = [](const Config& c) {
           return get_str(c, "num_warps").empty() ? Tolerance{} : Tolerance{1, 1};
         };
       }},
      {"the work function: no dim 'W'",
       [](auto& s) {
         s.work = [](const Dims& d, const Config&) { return static_cast<double>(get(d, "W")); };
       }},
      {"the geometry function: no knob 'warps'",
       [](auto& s) {
         s.geometry = [](const Dims&, const Config& c) {
           return Geometry{{{"k", {get_int(c, "warps"), 1, 1}}}, {}};
         };
       }},
  };
  for (const auto& c : cases) {
    TargetSpec spec = good();
    c.spoil(spec);
    EXPECT_EQ(spec_problem(spec), c.problem);
    // Whether or not the smallest call is allowed.
    spec.constraints.push_back(Constraint::predicate("never", never));
    EXPECT_EQ(spec_problem(spec), c.problem);
  }
}

// The function throws, with any type, for a call that is not the smallest.
TEST(SpecCheck, TriesTheLargestCallAndSomeBetween) {
  TargetSpec spec = good();
  spec.tensors[0].shape = [](const Dims& d) -> Shape {
    if (get(d, "T") == 64) throw 3;
    return {get(d, "T")};
  };
  EXPECT_EQ(spec_problem(spec),
            "the shape function of tensor 'x' threw something that is not a std::exception for C = "
            "8, T = 64");
  spec = good();
  spec.knobs[0].values = {4, 8};
  spec.dims[0].max = 64000;
  spec.work = [](const Dims& d, const Config& c) {
    const auto t = get(d, "T");
    if (t > 64 && t < 64000 && get_int(c, "num_warps") == 8) throw std::runtime_error("large");
    return 1.0;
  };
  const auto problem = spec_problem(spec);
  ASSERT_TRUE(problem);
  EXPECT_NE(problem->find("the work function threw \"large\" for C = "), std::string::npos)
      << *problem;
}

TEST(SpecCheck, EachFunctionGivesOneAnswerForACall) {
  const auto count = std::make_shared<std::int64_t>(0);
  struct Case {
    std::string function;
    std::function<void(TargetSpec&)> spoil;
  };
  const std::vector<Case> cases = {
      {"the shape function of tensor 'x'",
       [&](auto& s) { s.tensors[0].shape = [=](const Dims&) { return Shape{++*count}; }; }},
      {"the dtype function of tensor 'x'",
       [&](auto& s) {
         s.tensors[0].dtype_of = [=](const Config&) {
           return ++*count % 2 ? DType::f32 : DType::f64;
         };
       }},
      {"the range of the fill of tensor 'x'",
       [&](auto& s) {
         s.tensors[0].fill = Fill::integers([=](const Dims&) { return std::pair(0, ++*count); });
       }},
      {"the tolerance function",
       [&](auto& s) {
         s.tolerance_of = [=](const Config&) {
           return Tolerance{0, static_cast<double>(++*count)};
         };
       }},
      {"the work function",
       [&](auto& s) {
         s.work = [=](const Dims&, const Config&) { return static_cast<double>(++*count); };
       }},
      {"constraint 'odd'",
       [&](auto& s) {
         s.constraints.push_back(Constraint::predicate(
             "odd", [=](const Dims&, const Config&) { return ++*count % 2 == 1; }));
       }},
  };
  for (const auto& c : cases) {
    TargetSpec spec = good();
    c.spoil(spec);
    const auto problem = spec_problem(spec);
    ASSERT_TRUE(problem) << c.function;
    EXPECT_TRUE(problem->starts_with(c.function + " returns two results for the same call ("))
        << *problem;
  }
}

TEST(SpecCheck, SaysWhatIsWrong) {
  struct Case {
    std::string problem;
    std::function<void(TargetSpec&)> spoil;
  };
  const std::vector<Case> cases = {
      {"target name '' is not", [](auto& s) { s.name = ""; }},
      {"target name 'A b' is not", [](auto& s) { s.name = "A b"; }},
      {R"(target name 'a\n' is not)", [](auto& s) { s.name = "a\n"; }},
      {"target name 'a.py' ends as files", [](auto& s) { s.name = "a.py"; }},
      {"the work function gives nan, which is not a finite number >= 0, for ",
       [](auto& s) {
         s.work = [](const Dims&, const Config&) {
           return std::numeric_limits<double>::quiet_NaN();
         };
       }},
      {"the work function gives -1",
       [](auto& s) { s.work = [](const Dims&, const Config&) { return -1.0; }; }},
      {"tensor 'x': its fill is from nan to 1, which is no range",
       [](auto& s) {
         s.tensors[0].fill = Fill::uniform(std::numeric_limits<double>::quiet_NaN(), 1);
       }},
      {"tensor 'x': its fill is from -inf to inf, which is no range",
       [](auto& s) {
         const double most = std::numeric_limits<double>::infinity();
         s.tensors[0].fill = Fill::sums(-most, most);
       }},
      {"tensor 'x': its fill is from 1 to -1, which holds no number",
       [](auto& s) { s.tensors[0].fill = Fill::uniform(1, -1); }},
      {"tensor 'x': its fill is from nan to nan, which is no range",
       [](auto& s) {
         s.tensors[0].fill = Fill::constant(std::numeric_limits<double>::quiet_NaN());
       }},
      {"tile -5 is negative", [](auto& s) { s.dims[0].tile = -5; }},
      {"granule_elems is 2305843009213693952, must be in 1..2147483648",
       [](auto& s) { s.tensors[0].layouts.granule_elems = std::int64_t{1} << 61; }},
      {"no tensors", [](auto& s) { s.tensors.clear(); }},
      {"it has 65 dims, at most 64", [](auto& s) { s.dims.resize(65); }},
      {"dim name 'T-1' is not", [](auto& s) { s.dims[0].name = "T-1"; }},
      {"tensor name 'x\\ny' is not of", [](auto& s) { s.tensors[0].name = "x\ny"; }},
      {"dim 'C' is declared twice", [](auto& s) { s.dims[0].name = "C"; }},
      {"tensor 'x' is declared twice", [](auto& s) { s.tensors.push_back(s.tensors[0]); }},
      {"knob 'num_warps' is declared twice", [](auto& s) { s.knobs.push_back(s.knobs[0]); }},
      {"knob 'num_warps' has no values", [](auto& s) { s.knobs[0].values.clear(); }},
      {"knob 'num_warps' has a value that is not UTF-8",
       [](auto& s) { s.knobs[0].values = {std::string("\xff\xfe")}; }},
      {"knob 'num_warps' lists a value twice",
       [](auto& s) {
         s.knobs[0].values = {1, 2, 1};
       }},
      {"knob 'num_warps' has 1025 values, at most 1024 are possible",
       [](auto& s) { s.knobs[0].values.resize(1025); }},
      {"dim 'T' has 1025 values", [](auto& s) { s.dims[0].values.resize(1025); }},
      {"it has 257 knobs", [](auto& s) { s.knobs.resize(257, s.knobs[0]); }},
      {"it has 257 tensors", [](auto& s) { s.tensors.resize(257, s.tensors[0]); }},
      {"the name of a knob has 201 characters",
       [](auto& s) { s.knobs[0].name = std::string(201, 'k'); }},
      {"the name of the target has 201 characters",
       [](auto& s) { s.name = std::string(201, 'k'); }},
      {"knob 'num_warps' draws 9 of", [](auto& s) { s.knobs[0].drawn = 9; }},
      {"tensor 'x' has no shape function", [](auto& s) { s.tensors[0].shape = {}; }},
      {"the shape function of tensor 'x' gives 6 dims, at most 5",
       [](auto& s) { s.tensors[0].shape = [](const Dims&) { return Shape(6, 1); }; }},
      {"the shape function of tensor 'x' gives a size of -4 for C = 1, T = 4",
       [](auto& s) { s.tensors[0].shape = [](const Dims& d) { return Shape{-get(d, "T")}; }; }},
      {"align_bytes 24 is not a power of two", [](auto& s) { s.tensors[0].align_bytes = 24; }},
      {"align_bytes is 1, and its elements are aligned to 4",
       [](auto& s) { s.tensors[0].align_bytes = 1; }},
      {"only_compute_capability is -1", [](auto& s) { s.only_compute_capability = -1; }},
      {"the product 'T * T' of its geometry has no factors",
       [](auto& s) {
         s.geometry = [](const Dims&, const Config&) { return Geometry{{}, {{"T * T", {}}}}; };
       }},
      {"the product 'T * T' of its geometry has 65 bits",
       [](auto& s) {
         s.geometry = [](const Dims&, const Config&) {
           return Geometry{{}, {{"T * T", {2, 3}, 65}}};
         };
       }},
      {"the tolerance of the target is inf",
       [](auto& s) { s.tolerance.abs = std::numeric_limits<double>::infinity(); }},
      {"the tolerance of the target is nan",
       [](auto& s) { s.tolerance.rel = std::numeric_limits<double>::quiet_NaN(); }},
      {"the tolerance of tensor 'x' is -1",
       [](auto& s) {
         s.tensors[0].tolerance = Tolerance{-1, 0};
       }},
      {"the tolerance function gives -0.5, which is not a finite number >= 0 for num_warps = 4",
       [](auto& s) { s.tolerance_of = [](const Config&) {
                       return Tolerance{0, -0.5};
                     }; }},
      {"declares has_reference, but has no output tensor", [](auto& s) { s.has_reference = true; }},
      {"its sampled_rows is -1", [](auto& s) { s.sampled_rows = -1; }},
      {"its sampled_rows is 2, must be 0 or in 3..1024", [](auto& s) { s.sampled_rows = 2; }},
      {"its sampled_rows is 1025", [](auto& s) { s.sampled_rows = 1025; }},
      {"declares sampled_rows, but not has_reference", [](auto& s) { s.sampled_rows = 4; }},
      {"side_streams is 7, must be in 0..6", [](auto& s) { s.side_streams = 7; }},
      {"side_streams is -1", [](auto& s) { s.side_streams = -1; }},
      {"its fill has no range function",
       [](auto& s) { s.tensors[0].fill = {.kind = Fill::Kind::integers}; }},
      {"min 65 exceeds max 64", [](auto& s) { s.dims[0].min = 65; }},
      {"min -1 is negative", [](auto& s) { s.dims[0].min = -1; }},
      {"multiple_of is 0", [](auto& s) { s.dims[0].multiple_of = 0; }},
      {"no multiple of 100 in 1..64",
       [](auto& s) { s.dims[0].min = 1, s.dims[0].multiple_of = 100; }},
      {"its values must ascend",
       [](auto& s) {
         s.dims[1].values = {8, 8};
       }},
      {"has a negative value",
       [](auto& s) {
         s.dims[1].values = {-8, 8};
       }},
      {"its category is 77, which is not one of its enumerators",
       [](auto& s) { s.category = Category{77}; }},
      {"tensor 'x': elements of type bool cannot be row offsets",
       [](auto& s) {
         s.tensors[0].dtype = DType::boolean;
         s.tensors[0].fill = Fill::offsets([](const Dims& d) { return get(d, "T"); });
       }},
      {"the dtype of tensor 'x' is 77", [](auto& s) { s.tensors[0].dtype = DType{77}; }},
      {"the role of tensor 'x' is 77", [](auto& s) { s.tensors[0].role = Role{77}; }},
      {"the kind of the fill of tensor 'x' is 77",
       [](auto& s) { s.tensors[0].fill.kind = Fill::Kind{77}; }},
      {"the kind of constraint 'odd' is 77",
       [](auto& s) { s.constraints.push_back({.kind = Constraint::Kind{77}, .text = "odd"}); }},
      {"the dtype function of tensor 'x' gives 77, which is not a DType",
       [](auto& s) { s.tensors[0].dtype_of = [](const Config&) { return DType{77}; }; }},
      {"the shape function of tensor 'x' gives 6 dims, at most 5 are possible for C = 1, T = 4, "
       "num_warps = 4",
       [](auto& s) {
         s.tensors[0].shape_with_knobs = [](const Dims&, const Config&) { return Shape(6, 1); };
       }},
      {"the shape function of tensor 'x' gives a size of -4",
       [](auto& s) {
         s.tensors[0].shape_with_knobs = [](const Dims&, const Config& c) {
           return Shape{-get_int(c, "num_warps")};
         };
       }},
      {"the role function of tensor 'x' gives 77, which is not a Role",
       [](auto& s) { s.tensors[0].role_of = [](const Config&) { return Role{77}; }; }},
      {"tensor 'x': only inputs can be broadcast",
       [](auto& s) {
         s.tensors[0].layouts.broadcast = true;
         s.tensors[0].role_of = [](const Config&) { return Role::in; };
       }},
      {"tensor 'x': its fill has no range function",
       [](auto& s) {
         s.tensors[0].role = Role::out;
         s.tensors[0].role_of = [](const Config&) { return Role::inout; };
         s.tensors[0].fill = {.kind = Fill::Kind::integers};
       }},
      {"tensor 'x' is counted, which only an output of role 'out' can be",
       [](auto& s) { s.tensors[0].counted_by = CountedBy{"x"}; }},
      {"tensor 'x' is counted by 'n', which is no tensor",
       [](auto& s) {
         s.tensors[0].role = Role::out;
         s.tensors[0].counted_by = CountedBy{"n"};
       }},
      {"tensor 'x' is counted by 'x', which is counted itself",
       [](auto& s) {
         s.tensors[0].role = Role::out;
         s.tensors[0].counted_by = CountedBy{"x"};
       }},
      {"tensor 'x' is counted along dim -1", [](auto& s) { count_x(s, -1, DType::i32, {}); }},
      {"tensor 'x' is counted along dim 5, and has",
       [](auto& s) { count_x(s, 5, DType::i32, {}); }},
      {"counted by 'n', whose elements are f32, not integers",
       [](auto& s) { count_x(s, 0, DType::f32, {}); }},
      {"counted by 'n', which has 2 elements, not 1: one for each index of the dims before dim 0",
       [](auto& s) { count_x(s, 0, DType::i32, {2}); }},
      {"names the unknown dim 'N'",
       [](auto& s) { s.constraints.push_back(Constraint::at_most("C", "N")); }},
      {"has no predicate",
       [](auto& s) { s.constraints.push_back(Constraint::predicate("odd", {})); }},
  };
  for (const auto& c : cases) {
    TargetSpec spec = good();
    c.spoil(spec);
    const auto problem = spec_problem(spec);
    ASSERT_TRUE(problem) << c.problem;
    EXPECT_NE(problem->find(c.problem), std::string::npos) << *problem;
  }
}

}  // namespace
}  // namespace redzone
