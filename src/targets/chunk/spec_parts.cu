#include "spec_parts.h"

#include <algorithm>

namespace redzone::chunk {
namespace {

DType element_type(const Config& config) {
  return get_str(config, "dtype") == "bf16" ? DType::bf16 : DType::f32;
}

// A state is a sum of at most a few dozen terms of size 1 that matter (the rest have decayed), in
// float32: its error stays near 1e-5 in any order. A bf16 output is that sum, rounded once: at most
// 2^-9 of its value.
Tolerance tolerance(const Config& config) {
  if (element_type(config) == DType::bf16) return {1e-3, 1.0 / 256};
  return {1e-4, 1e-4};
}

// Outputs may have any pitch, but are never transposed.
LayoutRules output_layouts() {
  return {true, false, true, true};
}

LayoutRules layouts_for(Role role) {
  return role == Role::in ? LayoutRules::strided() : output_layouts();
}

}  // namespace

TargetSpec family_spec(std::string name, std::string doc) {
  TargetSpec s;
  s.name = std::move(name);
  s.doc = std::move(doc);
  s.dims = {
      {.name = "B", .max = 8, .doc = "batch"},
      {.name = "H", .max = 64, .doc = "heads"},
      {.name = "T", .max = 16384, .doc = "tokens"},
      {.name = "C",
       .max = redzone_chunk::kMaxChunk,
       .values = {1, 2, 4, 8, 16, 32, 64, 128},
       .doc = "tokens of a chunk; N = T / C"},
      {.name = "D", .max = 256, .tile = 32, .doc = "rows of the state"},
      {.name = "DV", .max = 256, .tile = 32, .doc = "columns of the state"},
  };
  s.constraints = {Constraint::divides("C", "T")};
  s.knobs = {
      {"dtype", {"f32", "bf16"}, "element type of the tokens and of the states of chunks"},
      {"num_warps", {std::int64_t{4}, std::int64_t{8}, std::int64_t{2}}, "warps of a CTA"},
      {"block_v", {std::int64_t{32}, std::int64_t{64}, std::int64_t{16}}, "columns of a tile"},
      {"specialize_n",
       {std::int64_t{0}, std::int64_t{1}},
       "1: N is a constant of the compiled kernel (CUDA; the host device takes it at run time)"},
      {"grid", {"flat", "persistent"}, "flat: one CTA a tile; persistent: CTAs walk over tiles"},
  };
  s.tolerance = {1e-4, 1e-4};
  s.tolerance_of = tolerance;
  s.deterministic = true;
  s.has_reference = true;
  s.sampled_rows = 8;
  s.needs_nvrtc = true;
  return s;
}

TensorSpec tokens(std::string name, std::string width) {
  return {.name = std::move(name),
          .role = Role::in,
          .shape = shape_of({"B", "H", "T", std::move(width)}),
          .layouts = layouts_for(Role::in),
          .fill = Fill::uniform(-1, 1),
          .align_bytes = 4,
          .dtype_of = element_type};
}

TensorSpec log_decays() {
  return {.name = "g",
          .dtype = DType::f32,
          .role = Role::in,
          .shape = shape_of({"B", "H", "T"}),
          .layouts = layouts_for(Role::in),
          .fill = Fill::uniform(-0.2, 0),
          .align_bytes = 4};
}

TensorSpec chunk_states(std::string name, Role role) {
  return {.name = std::move(name),
          .role = role,
          .shape =
              [](const Dims& d) {
                const auto n = get(d, "T") / get(d, "C");
                return Shape{get(d, "B"), get(d, "H"), n, get(d, "D"), get(d, "DV")};
              },
          .layouts = layouts_for(role),
          .fill = Fill::uniform(-1, 1),
          .align_bytes = 4,
          .dtype_of = element_type};
}

TensorSpec sequence_state(std::string name, Role role) {
  return {.name = std::move(name),
          .dtype = DType::f32,
          .role = role,
          .shape = shape_of({"B", "H", "D", "DV"}),
          .layouts = layouts_for(role),
          .fill = Fill::uniform(-1, 1),
          .align_bytes = 4};
}

LaunchDecl declare(const char* kernel, const LaunchShape& shape) {
  return {kernel,
          {shape.grid.x, shape.grid.y, shape.grid.z},
          {shape.block.x, shape.block.y, shape.block.z},
          static_cast<std::int64_t>(shape.shared_bytes)};
}

std::vector<IndexProduct> offset_products(const Problem& problem) {
  const auto& z = problem.sizes;
  return {{"token offset", {z.sequences, z.T, std::max(z.D, z.DV)}, 64},
          {"chunk state offset", {z.sequences, z.N, z.D, z.DV}, 64}};
}

Geometry scan_geometry(const char* kernel, const Problem& problem) {
  return {{declare("chunk_gates", problem.gates_launch()),
           declare(kernel, problem.sum_launch(problem.sum_tiles()))},
          offset_products(problem)};
}

double scan_work(const Dims& dims, const Config& config) {
  const auto p = Problem::of(dims, config);
  return p.sum_work(static_cast<double>(p.sum_tiles()), static_cast<double>(p.sizes.T));
}

}  // namespace redzone::chunk
