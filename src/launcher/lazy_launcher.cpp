#include "launcher/lazy_launcher.h"

namespace redzone::lazy {
namespace {

bool is_empty(const Extent& programs) {
  return programs.x < 1 || programs.y < 1 || programs.z < 1;
}

std::size_t bytes_of(const TensorArg& tensor) {
  return static_cast<std::size_t>(tensor.numel()) * dtype_bytes(tensor.dtype);
}

}  // namespace

std::string LazyLauncher::key_of(Context& ctx, Kernels& kernels) const {
  std::string key;
  for (const auto& [name, value] : ctx.dims()) {
    const bool forgotten = rules_.key == KeyRule::without_dim && name == kernels.forgotten_dim();
    if (!forgotten) key += name + " = " + std::to_string(value) + ", ";
  }
  return key + kernels.key(ctx);
}

Extent LazyLauncher::programs_for(Context& ctx, Kernels& kernels, std::size_t config) {
  if (!first_dims_) first_dims_ = ctx.dims();
  return kernels.programs(ctx, config,
                          rules_.grid == GridRule::first_call ? *first_dims_ : ctx.dims());
}

std::size_t LazyLauncher::scratch_for(const CtaScratch& need, const Extent& programs,
                                      bool compiles) const {
  if (is_empty(programs)) return 0;
  const std::size_t grid = static_cast<std::size_t>(programs.x) *
                           static_cast<std::size_t>(programs.y) *
                           static_cast<std::size_t>(programs.z);
  const std::size_t right = need.bytes * grid * static_cast<std::size_t>(need.num_ctas);
  switch (rules_.scratch) {
    case ScratchRule::right:
      return right;
    case ScratchRule::per_cta:
      return need.bytes;
    case ScratchRule::first_call_only:
      return compiles ? right : need.bytes;
    case ScratchRule::without_num_ctas:
      return need.bytes * grid;
    case ScratchRule::null:
      break;
  }
  return 0;
}

void LazyLauncher::launch(Context& ctx, Kernels& kernels, const Frozen& frozen) {
  if (is_empty(frozen.programs)) return;
  const CtaScratch need = kernels.scratch(frozen.config);
  void* scratch = nullptr;
  if (need.bytes > 0)
    scratch = ctx.scratch(need.name, frozen.scratch_bytes, need.align,
                          {need.bytes, frozen.programs, need.num_ctas, need.align});
  if (ctx.ended()) return;
  kernels.launch(ctx, frozen.config, frozen.programs, scratch);
}

void LazyLauncher::try_out(Context& ctx, Kernels& kernels, const Frozen& candidate) {
  if (rules_.tuning == TuningRule::accumulates) return launch(ctx, kernels, candidate);
  struct Saved {
    TensorArg tensor;
    void* copy = nullptr;
  };
  std::vector<Saved> all;
  for (const auto name : kernels.accumulated()) {
    const TensorArg tensor = ctx.tensor(name);
    if (tensor.numel() == 0) continue;
    void* copy = ctx.scratch("saved_" + std::string(name), bytes_of(tensor));
    if (ctx.ended()) return;
    ctx.copy(copy, tensor.base, bytes_of(tensor));
    all.push_back({tensor, copy});
  }
  launch(ctx, kernels, candidate);
  for (const auto& saved : all) ctx.copy(saved.tensor.base, saved.copy, bytes_of(saved.tensor));
}

std::optional<LazyLauncher::Frozen> LazyLauncher::compile(Context& ctx, Kernels& kernels) {
  const auto configs = kernels.configs(ctx);
  if (ctx.ended()) return std::nullopt;
  const std::size_t best = kernels.best(ctx, configs);
  std::optional<Frozen> chosen;
  for (const std::size_t config : configs) {
    const Extent programs = programs_for(ctx, kernels, config);
    if (ctx.ended()) return std::nullopt;
    kernels.prepare(ctx, config);
    const Frozen candidate{config, programs, scratch_for(kernels.scratch(config), programs, true)};
    if (ctx.ended()) return std::nullopt;
    if (configs.size() > 1) try_out(ctx, kernels, candidate);
    if (ctx.ended()) return std::nullopt;
    if (config == best) chosen = candidate;
  }
  return chosen;
}

void LazyLauncher::run(Context& ctx, Kernels& kernels, const Rules& rules) {
  rules_ = rules;
  const std::string key = key_of(ctx, kernels);
  if (const auto it = frozen_.find(key); it != frozen_.end())
    return launch(ctx, kernels, it->second);
  const auto compiled = compile(ctx, kernels);
  if (!compiled) return;
  launch(ctx, kernels, *compiled);
  // The frozen scratch size is computed separately from the one just used, possibly by another
  // rule.
  Frozen kept = *compiled;
  kept.scratch_bytes = scratch_for(kernels.scratch(kept.config), kept.programs, false);
  frozen_.emplace(key, kept);
}

}  // namespace redzone::lazy
