#include "lazy_launch.h"

#include <memory>
#include <utility>

namespace redzone::lazy {
namespace {

DimSpec dim(std::string name, std::string doc) {
  DimSpec d;
  d.name = std::move(name);
  d.max = 1024;
  d.tile = 16;
  d.doc = std::move(doc);
  return d;
}

TensorSpec tensor(std::string name, Role role, std::vector<std::string> dims) {
  TensorSpec t;
  t.name = std::move(name);
  t.role = role;
  t.shape = shape_of(std::move(dims));
  t.align_bytes = sizeof(float);
  return t;
}

// What is launched last is known before where there is one config to choose from.
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
  s.dims = {dim("M", "rows of x"), dim("N", "columns of x")};
  s.tensors = {tensor("x", Role::in, {"M", "N"}), tensor("y", Role::inout, {"N", "M"})};
  KnobSpec tiles{"tiles", {}, "tile of a program; auto: chosen by the first call of a shape"};
  for (const auto name : tile_names()) tiles.values.emplace_back(std::string(name));
  s.knobs = {tiles, {"num_ctas", {std::int64_t{1}, std::int64_t{2}}, "CTAs that share a tile"}};
  s.has_reference = true;
  s.needs_nvrtc = true;
  // It tunes with copies of y, once: a replay would not repeat what the capture saw.
  s.capturable = false;
  s.geometry = declared;
  return s;
}

LazyLaunch::Key LazyLaunch::key_of(Context& ctx) const {
  Key key{ctx.dim("M"), ctx.dim("N"), ctx.knob_str("tiles"), ctx.knob("num_ctas")};
  if (rules_.key == KeyRule::without_n) key.N = 0;
  return key;
}

Extent LazyLaunch::grid_for(const TileConfig& config, Context& ctx) {
  std::pair dims(ctx.dim("M"), ctx.dim("N"));
  if (!first_dims_) first_dims_ = dims;
  if (rules_.grid == GridRule::first_call) dims = *first_dims_;
  return grid_of(config, dims.first, dims.second);
}

std::size_t LazyLaunch::scratch_for(const TileConfig& config, const Extent& grid,
                                    bool compiles) const {
  const std::size_t per_cta = scratch_bytes_per_cta(config);
  const std::size_t programs = static_cast<std::size_t>(grid.x) * static_cast<std::size_t>(grid.y);
  const std::size_t right = per_cta * programs * static_cast<std::size_t>(config.num_ctas);
  switch (rules_.scratch) {
    case ScratchRule::right:
      return right;
    case ScratchRule::per_cta:
      return per_cta;
    case ScratchRule::first_call_only:
      return compiles ? right : per_cta;
    case ScratchRule::without_num_ctas:
      return per_cta * programs;
    case ScratchRule::null:
      break;
  }
  return 0;
}

void LazyLaunch::launch_frozen(Context& ctx, const Frozen& f) {
  const ScratchNeed need{scratch_bytes_per_cta(f.config), f.grid, f.config.num_ctas, kScratchAlign};
  void* scratch = ctx.scratch("scratch", f.scratch_bytes, kScratchAlign, need);
  if (ctx.ended()) return;
  launch_exact(ctx, f.kernel, launch_of(f.config, f.grid),
               static_cast<const float*>(ctx.tensor("x").base), ctx.tensor("y").data<float>(),
               static_cast<float*>(scratch), static_cast<long long>(ctx.dim("M")),
               static_cast<long long>(ctx.dim("N")));
}

void LazyLaunch::try_out(Context& ctx, const Frozen& candidate) {
  if (rules_.tuning == TuningRule::accumulates) return launch_frozen(ctx, candidate);
  const TensorArg y = ctx.tensor("y");
  const auto bytes = static_cast<std::size_t>(y.numel()) * sizeof(float);
  void* saved = ctx.scratch("saved_y", bytes);
  if (ctx.ended()) return;
  ctx.copy(saved, y.base, bytes);
  launch_frozen(ctx, candidate);
  ctx.copy(y.base, saved, bytes);
}

std::optional<LazyLaunch::Frozen> LazyLaunch::compile(Context& ctx) {
  const auto configs = candidates(ctx.knob_str("tiles"), ctx.knob("num_ctas"));
  const TileConfig& best = best_of(configs, ctx.dim("M"), ctx.dim("N"));
  std::optional<Frozen> chosen;
  for (const auto& config : configs) {
    const Extent grid = grid_for(config, ctx);
    const Frozen candidate{config, ctx.variant(request_for(config)), grid,
                           scratch_for(config, grid, true)};
    if (ctx.ended()) return std::nullopt;
    if (configs.size() > 1) try_out(ctx, candidate);
    if (ctx.ended()) return std::nullopt;
    if (&config == &best) chosen = candidate;
  }
  return chosen;
}

void LazyLaunch::run(Context& ctx) {
  const Key key = key_of(ctx);
  if (const auto it = frozen_.find(key); it != frozen_.end()) return launch_frozen(ctx, it->second);
  const auto compiled = compile(ctx);
  if (!compiled) return;
  launch_frozen(ctx, *compiled);
  // What is kept is computed apart from what was just used, by another rule perhaps.
  Frozen kept = *compiled;
  kept.scratch_bytes = scratch_for(kept.config, kept.grid, false);
  frozen_.emplace(key, kept);
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

}  // namespace redzone::lazy
