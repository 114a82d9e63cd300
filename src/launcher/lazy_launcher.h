// The lazily compiled launch (pytorch/pytorch#175416), over any kernels.
//
// The first call of a shape compiles or loads the configs that it may use, tries each on the real
// inputs, and freezes the best: config, grid and scratch. Later calls of the shape launch the
// frozen result. Therefore a call's effect depends on the calls before it, and only a sequence of
// calls shows a rule that is wrong on one of the two paths.
//
// Used in plugins as well as in the driver, so it depends only on the public API.
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

// The scratch that a config needs, according to the metadata of its compiled kernel.
struct CtaScratch {
  const char* name = "scratch";
  std::size_t bytes = 0;  // per CTA; 0: none
  int num_ctas = 1;       // per program
  std::size_t align = 1;
};

// Configs that compute the same result, numbered by their owner. A member function that cannot do
// its work ends the call (Context::unsupported() or fail()).
class Kernels {
 public:
  virtual ~Kernels() = default;

  // The configs that the call may use; at least one unless the call has ended.
  virtual std::vector<std::size_t> configs(Context& ctx) = 0;
  // The config to keep. It depends only on the call and not on a measurement: time cannot be
  // measured inside a call if launches are blocked or in a dry run, and two trials of one plan that
  // chose by time would not compute the same bits.
  virtual std::size_t best(Context& ctx, std::span<const std::size_t> configs) = 0;
  // Compiles or loads the config.
  virtual void prepare(Context& ctx, std::size_t config) = 0;
  // The grid of programs for a call with these dims, which may differ from those of `ctx`.
  virtual Extent programs(Context& ctx, std::size_t config, const Dims& dims) = 0;
  virtual CtaScratch scratch(std::size_t config) const = 0;
  // `scratch` is null if the config needs none, or if no scratch was provided.
  virtual void launch(Context& ctx, std::size_t config, const Extent& programs, void* scratch) = 0;

  // A key for everything except the dims that determines which configs may serve a call, and how.
  virtual std::string key(Context& ctx) = 0;
  // The dim that KeyRule::without_dim omits from the key.
  virtual std::string_view forgotten_dim() const = 0;
  // The contiguous tensors to which the kernels add.
  virtual std::vector<std::string_view> accumulated() const = 0;
};

// Holds the frozen results; one for each instance of a target.
class LazyLauncher {
 public:
  // Makes one call under these rules. All calls must use the same `kernels`.
  void run(Context& ctx, Kernels& kernels, const Rules& rules);

 private:
  // What the first call with a key stores for later ones.
  struct Frozen {
    std::size_t config = 0;
    Extent programs;
    std::size_t scratch_bytes = 0;
  };

  std::string key_of(Context& ctx, Kernels& kernels) const;
  Extent programs_for(Context& ctx, Kernels& kernels, std::size_t config);
  std::size_t scratch_for(const CtaScratch& need, const Extent& programs, bool compiles) const;
  // Compiles and tries the configs. Empty if the call has ended.
  std::optional<Frozen> compile(Context& ctx, Kernels& kernels);
  void try_out(Context& ctx, Kernels& kernels, const Frozen& candidate);
  void launch(Context& ctx, Kernels& kernels, const Frozen& frozen);

  Rules rules_;  // rules of the current call
  std::map<std::string, Frozen> frozen_;
  std::optional<Dims> first_dims_;
};

}  // namespace redzone::lazy
