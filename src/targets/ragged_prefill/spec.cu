#include <algorithm>

#include "prefill_kernels.cuh"
#include "ragged_prefill.h"

namespace redzone::ragged {
namespace {

DType element_type(const Config& config) {
  return get_str(config, "dtype") == "bf16" ? DType::bf16 : DType::f16;
}

// Weights are rounded to the element type, which changes a mean of values below 1 by less than one
// unit of that type (2^-8 and 2^-11); the result is rounded once more.
Tolerance tolerance(const Config& config) {
  if (element_type(config) == DType::bf16) return {1.0 / 128, 1.0 / 128};
  return {1.0 / 1024, 1.0 / 1024};
}

// Inputs may be slices of packed tensors, in either order of tokens and heads; rows are dense.
LayoutRules row_layouts(std::int64_t granule_elems) {
  LayoutRules rules = LayoutRules::strided();
  rules.transposed = false;
  rules.heads_first = rules.slice = rules.reversed = true;
  rules.granule_elems = granule_elems;
  return rules;
}

TensorSpec rows(std::string name, Role role, const char* tokens, const char* heads,
                std::int64_t granule_elems) {
  TensorSpec t;
  t.name = std::move(name);
  t.role = role;
  t.shape = shape_of({tokens, heads, "D"});
  t.layouts = row_layouts(granule_elems);
  t.layouts.broadcast = role == Role::in;
  t.dtype_of = element_type;
  t.align_bytes = 16;  // bases of descriptors
  return t;
}

TensorSpec offsets(std::string name, std::string total) {
  TensorSpec t;
  t.name = std::move(name);
  t.dtype = DType::i32;
  t.shape = [](const Dims& d) { return Shape{get(d, "B") + 1}; };
  t.fill = Fill::offsets([total](const Dims& d) { return get(d, total); });
  t.align_bytes = 4;
  return t;
}

// Products of all queries with the keys of their sequence, assuming equal lengths; each step of a
// tile adds a fixed cost for its copies and thread switches.
double work(const Dims& d, const Config& config) {
  const auto real = [&](const char* name) { return static_cast<double>(get(d, name)); };
  const double keys = real("TK") / std::max(real("B"), 1.0) + 1;
  const double tiles = real("TQ") / kTile + real("B");
  const double per_step = 64 * kThreads + kTile * real("D") / 4;
  const double runs = get_int(config, "verify") != 0 ? 2 : 1;
  return runs * real("HQ") *
         (2 * real("TQ") * keys * real("D") + tiles * per_step * (keys / kTile + 1));
}

Geometry geometry(const Dims& d, const Config&) {
  const std::int64_t tiles = (get(d, "TQ") + kTile - 1) / kTile + get(d, "B");
  if (get(d, "TQ") == 0) return {};
  LaunchDecl launch;
  launch.kernel = "ragged_prefill";
  launch.grid[0] = tiles;
  launch.grid[1] = get(d, "HQ");
  launch.block[0] = kThreads;
  launch.shared_bytes = Shared<bf16>::bytes(static_cast<int>(get(d, "D")));
  return {{launch}, {}};
}

}  // namespace

TargetSpec RaggedPrefill::spec(std::string name, Category category, const Variant& variant) {
  const std::int64_t granule = variant.granule_elems;
  TargetSpec s;
  s.name = std::move(name);
  s.doc = "attention over ragged sequences: TMA loads, tensor cores, grouped heads";
  s.category = category;
  s.dims = {DimSpec::of("B", 1, 16, "sequences"),
            DimSpec::of("TQ", 0, 65536, "queries of all sequences", kTile),
            DimSpec::of("TK", 0, 65536, "keys of all sequences", kTile),
            DimSpec::of("HQ", 1, 64, "query heads"),
            DimSpec::of("HK", 1, 64, "key and value heads"),
            DimSpec::of("D", 64, 256, "width of a head")};
  s.dims.back().values = {64, 128, 256};
  s.constraints = {Constraint::divides("HK", "HQ")};
  s.tensors = {rows("q", Role::in, "TQ", "HQ", granule),
               rows("k", Role::in, "TK", "HK", granule),
               rows("v", Role::in, "TK", "HK", granule),
               offsets("q_offsets", "TQ"),
               offsets("k_offsets", "TK"),
               rows("o", Role::out, "TQ", "HQ", granule)};
  s.knobs = {
      {"dtype", {"bf16", "f16"}, "element type"},
      {"causal", {std::int64_t{0}, std::int64_t{1}}, "1: row i sees keys 0 .. i + keys - queries"},
      {"verify",
       {std::int64_t{0}, std::int64_t{1}},
       "1: a naive kernel computes the same, and a third traps where they differ"},
      {"on_refusal",
       {"error", "fallback", "launch"},
       "where a descriptor cannot be encoded: report an error, load plainly, or print and launch "
       "as "
       "a build without assertions does"}};
  if (!variant.refusal_knob) s.knobs.back().values = {"error"};
  s.tolerance_of = tolerance;
  s.has_reference = true;
  s.min_compute_capability = 90;
  s.work = work;
  s.geometry = geometry;
  return s;
}

void add(Registrar& registrar, const std::string& name, Category category, const Variant& variant) {
  registrar.add(RaggedPrefill::spec(name, category, variant),
                [rules = variant.rules] { return std::make_unique<RaggedPrefill>(rules); });
}

}  // namespace redzone::ragged
