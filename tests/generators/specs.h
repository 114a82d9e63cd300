// Specs for property tests of the generators, each unusual in one way.
#pragma once

#include <redzone/spec.h>

#include <vector>

namespace redzone::testing {

inline TargetSpec chunk_like_spec() {
  TargetSpec spec;
  spec.name = "chunk_like";
  spec.dims = {{.name = "B", .max = 8},
               {.name = "H", .max = 16},
               {.name = "T", .max = 8192},
               {.name = "C", .values = {1, 2, 4, 8, 16, 32, 64, 128}},
               {.name = "D", .max = 128, .tile = 32},
               {.name = "DV", .max = 128, .tile = 32}};
  spec.constraints = {Constraint::divides("C", "T")};
  spec.tensors = {
      {.name = "k", .shape = shape_of({"B", "H", "T", "D"}), .layouts = LayoutRules::strided()},
      {.name = "v", .shape = shape_of({"B", "H", "T", "DV"}), .layouts = LayoutRules::strided()},
      {.name = "out", .role = Role::out, .shape = shape_of({"B", "H", "T", "DV"})}};
  spec.knobs = {{.name = "num_warps", .values = {4, 8, 2}},
                {.name = "block_v", .values = {32, 64, 16}},
                {.name = "grid", .values = {"flat", "persistent"}}};
  spec.work = [](const Dims& d, const Config&) {
    double work = 1;
    for (const char* name : {"B", "H", "T", "D", "DV"}) work *= static_cast<double>(get(d, name));
    return work;
  };
  return spec;
}

// Chains of structural constraints over ranges with multiples.
inline TargetSpec chain_spec() {
  TargetSpec spec;
  spec.name = "chain";
  spec.dims = {{.name = "A", .min = 1, .max = 64},
               {.name = "B", .min = 4, .max = 512, .multiple_of = 4},
               {.name = "C", .min = 8, .max = 4096, .multiple_of = 8},
               {.name = "E", .min = 0, .max = 100}};
  spec.constraints = {Constraint::divides("A", "B"), Constraint::divides("B", "C"),
                      Constraint::at_most("E", "A")};
  spec.tensors = {{.name = "x", .shape = shape_of({"A", "C"}), .layouts = LayoutRules::strided()},
                  {.name = "y", .role = Role::inout, .shape = shape_of({"E", "B"})}};
  return spec;
}

inline TargetSpec zero_size_spec() {
  TargetSpec spec;
  spec.name = "zero_size";
  spec.dims = {{.name = "N", .min = 0, .max = 1000, .tile = 64},
               {.name = "M", .min = 0, .max = 300, .multiple_of = 3}};
  spec.tensors = {{.name = "x",
                   .dtype = DType::f16,
                   .shape = shape_of({"N", "M"}),
                   .layouts = LayoutRules::strided()},
                  {.name = "y", .role = Role::out, .shape = shape_of({"M"})}};
  return spec;
}

inline TargetSpec five_dim_spec() {
  TargetSpec spec;
  spec.name = "five_dim";
  for (const char* name : {"A", "B", "C", "D", "E"})
    spec.dims.push_back({.name = name, .max = 1 << 20, .tile = 16});
  spec.tensors = {{.name = "x",
                   .dtype = DType::f64,
                   .shape = shape_of({"A", "B", "C", "D", "E"}),
                   .layouts = LayoutRules::strided()}};
  spec.knobs = {{.name = "only", .values = {7}}};
  return spec;
}

// The allowed dims depend on a knob; the smallest dims do not satisfy the default.
inline TargetSpec knob_predicate_spec() {
  TargetSpec spec;
  spec.name = "knob_predicate";
  spec.dims = {{.name = "N", .min = 1, .max = 4096}, {.name = "M", .min = 1, .max = 4096}};
  spec.constraints = {
      Constraint::predicate("N must be even or odd as the mode says",
                            [](const Dims& d, const Config& c) {
                              return get(d, "N") % 2 == (get_str(c, "mode") == "odd" ? 1 : 0);
                            }),
      Constraint::predicate("N * M must be at least 12", [](const Dims& d, const Config&) {
        return get(d, "N") * get(d, "M") >= 12;
      })};
  spec.tensors = {{.name = "x", .shape = shape_of({"N", "M"}), .dtype_of = [](const Config& c) {
                     return get_str(c, "mode") == "odd" ? DType::bf16 : DType::f32;
                   }}};
  spec.knobs = {{.name = "mode", .values = {"even", "odd"}}, {.name = "k", .values = {1, 2, 3}}};
  return spec;
}

// Dims whose product does not fit 63 bits.
inline TargetSpec huge_spec() {
  TargetSpec spec;
  spec.name = "huge";
  spec.dims = {{.name = "N", .min = 0, .max = std::int64_t{1} << 40},
               {.name = "M", .min = 1, .max = std::int64_t{1} << 40}};
  spec.tensors = {{.name = "x",
                   .dtype = DType::u8,
                   .shape = shape_of({"N", "M"}),
                   .layouts = LayoutRules::strided()}};
  return spec;
}

inline TargetSpec no_dims_spec() {
  TargetSpec spec;
  spec.name = "no_dims";
  spec.tensors = {{.name = "x", .shape = [](const Dims&) { return Shape{}; }}};
  return spec;
}

// Queries and keys as in attention, in every layout, in steps of 16 bytes.
inline TargetSpec attention_spec() {
  TargetSpec spec;
  spec.name = "attention";
  spec.dims = {{.name = "T", .min = 0, .max = 512, .tile = 64},
               {.name = "H", .min = 1, .max = 32},
               {.name = "D", .values = {64, 128, 256}}};
  LayoutRules rules = LayoutRules::strided();
  rules.heads_first = rules.slice = rules.reversed = rules.broadcast = true;
  rules.granule_elems = 8;
  LayoutRules out = rules;
  out.broadcast = out.transposed = false;
  spec.tensors = {
      {.name = "q", .dtype = DType::bf16, .shape = shape_of({"T", "H", "D"}), .layouts = rules},
      {.name = "o",
       .dtype = DType::bf16,
       .role = Role::out,
       .shape = shape_of({"T", "H", "D"}),
       .layouts = out}};
  return spec;
}

// A matrix whose number of dims, and which of its dims are 1, depends on a knob.
inline TargetSpec knob_shape_spec() {
  TargetSpec s;
  s.name = "knob_shape";
  s.dims = {{.name = "M", .min = 1, .max = 64}, {.name = "N", .min = 1, .max = 64}};
  s.knobs = {{"form", {std::string("rows"), std::string("columns"), std::string("flat")}}};
  TensorSpec x{.name = "x", .layouts = LayoutRules::strided()};
  x.shape_with_knobs = [](const Dims& d, const Config& c) -> Shape {
    const std::int64_t m = get(d, "M"), n = get(d, "N");
    if (get_str(c, "form") == "flat") return {m * n};
    return get_str(c, "form") == "rows" ? Shape{m, n} : Shape{n, 1, m};
  };
  s.tensors = {x, {.name = "y", .role = Role::out, .shape = shape_of({"M", "N"})}};
  return s;
}

inline std::vector<TargetSpec> awkward_specs() {
  return {chunk_like_spec(), chain_spec(),          zero_size_spec(),
          five_dim_spec(),   knob_predicate_spec(), huge_spec(),
          no_dims_spec(),    attention_spec(),      knob_shape_spec()};
}

}  // namespace redzone::testing
