// The lazily compiled launch (pytorch/pytorch#175416), over whatever kernels.
//
// The first call of a shape compiles or loads the configs that it may use, tries each on the real
// inputs, and freezes the best: config, grid and scratch. Later calls of the shape launch what is
// frozen. So what a call does depends on the calls before it, and a rule that is wrong for one of
// the two paths only is seen by a sequence, or by nothing.
//
// Part of plugins as well as of the driver: knows the public API and nothing else.
#pragma once

#include <redzone/target.h>

#include <cstddef>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "launcher/rules.h"

namespace redzone::lazy {

// The scratch that a config needs, as the metadata of its compiled kernel say it.
struct CtaScratch {
  const char* name = "scratch";
  std::size_t bytes = 0;  // of each CTA; 0: none
  int num_ctas = 1;       // of a program
  std::size_t align = 1;
};

// Configs that compute the same, by numbers of their owner's choice. A member that cannot do what
// it is asked ends the call (Context::unsupported() or fail()).
class Kernels {
 public:
  virtual ~Kernels() = default;

  // Those that the call may use, at least one unless the call has ended.
  virtual std::vector<std::size_t> configs(Context& ctx) = 0;
  // The one of them to keep. A function of the call alone, and no measurement: in a plan whose
  // launches are held, or on a device that runs nothing, no time can be measured inside of a call,
  // and two trials of one plan that chose by time would not compute the same bits.
  virtual std::size_t best(Context& ctx, std::span<const std::size_t> configs) = 0;
  // Compiles or loads.
  virtual void prepare(Context& ctx, std::size_t config) = 0;
  // The grid of programs for a call of these dims, which need not be those of `ctx`.
  virtual Extent programs(Context& ctx, std::size_t config, const Dims& dims) = 0;
  virtual CtaScratch scratch(std::size_t config) const = 0;
  // `scratch` is null where the config needs none, or got none.
  virtual void launch(Context& ctx, std::size_t config, const Extent& programs, void* scratch) = 0;

  // What decides beside the dims which configs may serve a call, and how.
  virtual std::string key(Context& ctx) = 0;
  // The dim that KeyRule::without_dim leaves out.
  virtual std::string_view forgotten_dim() const = 0;
  // The contiguous tensors that the kernels add to.
  virtual std::vector<std::string_view> accumulated() const = 0;
};

// Keeps what is frozen: one for each instance of a target.
class LazyLauncher {
 public:
  // One call under these rules. `kernels` are the same in all calls.
  void run(Context& ctx, Kernels& kernels, const Rules& rules);

 private:
  // What the first call of a key leaves for the later ones.
  struct Frozen {
    std::size_t config = 0;
    Extent programs;
    std::size_t scratch_bytes = 0;
  };

  std::string key_of(Context& ctx, Kernels& kernels) const;
  Extent programs_for(Context& ctx, Kernels& kernels, std::size_t config);
  std::size_t scratch_for(const CtaScratch& need, const Extent& programs, bool compiles) const;
  // Compiles and tries the configs. Nothing when the call has ended.
  std::optional<Frozen> compile(Context& ctx, Kernels& kernels);
  void try_out(Context& ctx, Kernels& kernels, const Frozen& candidate);
  void launch(Context& ctx, Kernels& kernels, const Frozen& frozen);

  Rules rules_;  // of the call that runs
  std::map<std::string, Frozen> frozen_;
  std::optional<Dims> first_dims_;
};

}  // namespace redzone::lazy
