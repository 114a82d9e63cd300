// The lazily compiled launch (pytorch/pytorch#175416) as a target: y += x^T.
//
// The first call of a shape compiles the configs that it may use, tries each on the real inputs,
// and freezes the best: variant, grid and scratch. Later calls of the shape launch what is frozen.
// So what a call does depends on the calls before it, and a rule that is wrong for one of the two
// paths only is seen by a sequence, or by nothing.
#pragma once

#include <redzone/target.h>

#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "rules.h"
#include "tuner.h"

namespace redzone::lazy {

class LazyLaunch final : public Target {
 public:
  explicit LazyLaunch(const Rules& rules) : rules_(rules) {}

  // Dims M and N; x [M, N] and the in-out tensor y [N, M]; knobs `tiles` and `num_ctas`.
  static TargetSpec spec(std::string name, Category category);

  void run(Context& ctx) override;
  void reference(ReferenceCall& call) const override;

 private:
  struct Key {
    std::int64_t M = 0, N = 0;
    std::string tiles;
    std::int64_t num_ctas = 1;
    auto operator<=>(const Key&) const = default;
  };
  // What the first call of a key leaves for the later ones.
  struct Frozen {
    TileConfig config;
    KernelRef kernel;
    Extent grid;
    std::size_t scratch_bytes = 0;
  };

  Key key_of(Context& ctx) const;
  Extent grid_for(const TileConfig& config, Context& ctx);
  std::size_t scratch_for(const TileConfig& config, const Extent& grid, bool compiles) const;
  // Compiles and tries the candidates. Nothing when the call has ended.
  std::optional<Frozen> compile(Context& ctx);
  void try_out(Context& ctx, const Frozen& candidate);
  void launch_frozen(Context& ctx, const Frozen& frozen);

  Rules rules_;
  std::map<Key, Frozen> frozen_;
  std::optional<std::pair<std::int64_t, std::int64_t>> first_dims_;  // M and N of the first call
};

// Adds the launcher under these rules as a target.
void add(Registrar& registrar, const std::string& name, Category category, const Rules& rules);

}  // namespace redzone::lazy
