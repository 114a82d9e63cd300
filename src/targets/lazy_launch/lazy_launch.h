// The lazily compiled launch (pytorch/pytorch#175416) as a target: y += x^T. src/launcher decides
// what is compiled, tried, frozen and reused; this target provides the kernels.
#pragma once

#include <redzone/target.h>

#include <string>
#include <vector>

#include "launcher/lazy_launcher.h"
#include "tuner.h"

namespace redzone::lazy {

class LazyLaunch final : public Target, private Kernels {
 public:
  // Uses `rules`, except where the knobs of a call override them.
  explicit LazyLaunch(const Rules& rules);

  // Dims M and N; x [M, N] and the in-out tensor y [N, M]; knobs `tiles` and `num_ctas`.
  static TargetSpec spec(std::string name, Category category);

  void run(Context& ctx) override;
  void reference(ReferenceCall& call) const override;

 private:
  // Configs are indices into all_configs().
  std::vector<std::size_t> configs(Context& ctx) override;
  std::size_t best(Context& ctx, std::span<const std::size_t> configs) override;
  void prepare(Context& ctx, std::size_t config) override;
  Extent programs(Context& ctx, std::size_t config, const Dims& dims) override;
  CtaScratch scratch(std::size_t config) const override;
  void launch(Context& ctx, std::size_t config, const Extent& programs, void* scratch) override;
  std::string key(Context& ctx) override;
  std::string_view forgotten_dim() const override { return "N"; }
  std::vector<std::string_view> accumulated() const override { return {"y"}; }

  Rules rules_;
  LazyLauncher launcher_;
  std::vector<KernelRef> kernels_;  // by config; filled when compiled
};

// Adds the launcher under these rules as a target.
void add(Registrar& registrar, const std::string& name, Category category, const Rules& rules);
// The same with its rules as knobs (launcher/rule_knobs.h); generated calls use the correct values.
void add_with_rule_knobs(Registrar& registrar, const std::string& name);

}  // namespace redzone::lazy
