#include "lazy_launch.h"

#include <memory>
#include <utility>

#include "launcher/rule_knobs.h"

namespace redzone::lazy {
namespace {

// The last launch can be declared only if there is a single config to choose from.
Geometry declared(const Dims& dims, const Config& config) {
  const auto configs = candidates(get_str(config, "tiles"), get_int(config, "num_ctas"));
  if (configs.size() != 1) return {};
  const TileConfig& c = configs.front();
  const auto shape = launch_of(c, grid_of(c, get(dims, "M"), get(dims, "N")));
  LaunchDecl d;
  d.kernel = kKernel;
  d.grid[0] = shape.grid.x;
  d.grid[1] = shape.grid.y;
  d.block[0] = shape.block.x;
  return {{d}, {}};
}

}  // namespace

TargetSpec LazyLaunch::spec(std::string name, Category category) {
  TargetSpec s;
  s.name = std::move(name);
  s.doc = "y += x^T by a launcher that compiles, tunes and freezes on the first call of a shape";
  s.category = category;
  s.dims = {DimSpec::of("M", 1, 1024, "rows of x", 16),
            DimSpec::of("N", 1, 1024, "columns of x", 16)};
  s.tensors = {TensorSpec::of("x", DType::f32, Role::in, shape_of({"M", "N"})),
               TensorSpec::of("y", DType::f32, Role::inout, shape_of({"N", "M"}))};
  KnobSpec tiles{"tiles", {}, "tile of a program; auto: chosen by the first call of a shape"};
  for (const auto name : tile_names()) tiles.values.emplace_back(std::string(name));
  s.knobs = {tiles, {"num_ctas", {std::int64_t{1}, std::int64_t{2}}, "CTAs that share a tile"}};
  s.has_reference = true;
  s.needs_nvrtc = true;
  // Tuning copies y, once: a replay would not repeat the captured launches.
  s.capturable = false;
  s.geometry = declared;
  return s;
}

LazyLaunch::LazyLaunch(const Rules& rules) : rules_(rules), kernels_(all_configs().size()) {}

std::vector<std::size_t> LazyLaunch::configs(Context& ctx) {
  std::vector<std::size_t> out;
  for (const auto& config : candidates(ctx.knob_str("tiles"), ctx.knob("num_ctas")))
    out.push_back(static_cast<std::size_t>(&config - all_configs().data()));
  return out;
}

std::size_t LazyLaunch::best(Context& ctx, std::span<const std::size_t> configs) {
  const auto covered = [&](std::size_t config) {
    return covered_by(all_configs()[config], ctx.dim("M"), ctx.dim("N"));
  };
  std::size_t best = configs.front();
  for (const std::size_t config : configs)
    if (covered(config) < covered(best)) best = config;
  return best;
}

void LazyLaunch::prepare(Context& ctx, std::size_t config) {
  kernels_[config] = ctx.variant(request_for(all_configs()[config]));
}

Extent LazyLaunch::programs(Context&, std::size_t config, const Dims& dims) {
  return grid_of(all_configs()[config], get(dims, "M"), get(dims, "N"));
}

CtaScratch LazyLaunch::scratch(std::size_t config) const {
  const TileConfig& c = all_configs()[config];
  return {"scratch", scratch_bytes_per_cta(c), c.num_ctas, kScratchAlign};
}

void LazyLaunch::launch(Context& ctx, std::size_t config, const Extent& programs, void* scratch) {
  launch_exact(ctx, kernels_[config], launch_of(all_configs()[config], programs),
               static_cast<const float*>(ctx.tensor("x").base), ctx.tensor("y").data<float>(),
               static_cast<float*>(scratch), static_cast<long long>(ctx.dim("M")),
               static_cast<long long>(ctx.dim("N")));
}

std::string LazyLaunch::key(Context& ctx) {
  return ctx.knob_str("tiles") + " x " + std::to_string(ctx.knob("num_ctas"));
}

void LazyLaunch::run(Context& ctx) {
  launcher_.run(ctx, *this, rules_of(ctx.config(), rules_));
}

void LazyLaunch::reference(ReferenceCall& call) const {
  const auto M = static_cast<std::size_t>(call.dim("M"));
  const auto N = static_cast<std::size_t>(call.dim("N"));
  const auto x = call.input("x");
  const auto y = call.output("y");
  for (std::size_t m = 0; m < M; ++m)
    for (std::size_t n = 0; n < N; ++n) y[n * M + m] += x[m * N + n];
}

void add(Registrar& registrar, const std::string& name, Category category, const Rules& rules) {
  registrar.add(LazyLaunch::spec(name, category),
                [rules] { return std::make_unique<LazyLaunch>(rules); });
}

void add_with_rule_knobs(Registrar& registrar, const std::string& name) {
  TargetSpec spec = LazyLaunch::spec(name, Category::kernel);
  for (auto& knob : rule_knobs()) spec.knobs.push_back(std::move(knob));
  registrar.add(std::move(spec), [] { return std::make_unique<LazyLaunch>(Rules{}); });
}

}  // namespace redzone::lazy
