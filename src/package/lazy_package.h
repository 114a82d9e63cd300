// A package under the lazily compiled launch of src/launcher: the first call of a shape chooses the
// knobs that the description marks with `tune`, and freezes them.
#pragma once

#include <redzone/target.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "launcher/lazy_launcher.h"
#include "launcher/mistakes.h"
#include "package/launching.h"
#include "package/package.h"
#include "package/settings.h"

namespace redzone::package {

// The choices of a package's launcher, and the mistakes that the launcher can make.
class TunedChoice {
 public:
  explicit TunedChoice(std::shared_ptr<const Package> package);

  const Package& package() const { return *package_; }
  const std::shared_ptr<const Package>& shared() const { return package_; }
  const Settings& settings() const { return settings_; }
  // The dim that KeyRule::without_dim forgets: the last dim that the grid depends on; "" if there
  // is none.
  const std::string& forgotten_dim() const { return forgotten_dim_; }
  // Whether a launcher of this package can make the mistake.
  bool can_make(const lazy::Mistake& mistake) const;

 private:
  std::shared_ptr<const Package> package_;
  Settings settings_;
  std::string forgotten_dim_;
};

// The spec without its name. Launches are declared only for calls that have one config.
TargetSpec lazy_spec_of(const std::shared_ptr<const TunedChoice>& choice);

class LazyPackageTarget final : public Target, private lazy::Kernels {
 public:
  // The target uses `rules` unless the knobs of a call override them.
  LazyPackageTarget(std::shared_ptr<const TunedChoice> choice,
                    const references::Reference* reference, const lazy::Rules& rules);

  void run(Context& ctx) override;
  void reference(ReferenceCall& call) const override;

 private:
  // Configs are indices into Package::variants.
  std::vector<std::size_t> configs(Context& ctx) override;
  std::size_t best(Context& ctx, std::span<const std::size_t> configs) override;
  void prepare(Context& ctx, std::size_t config) override;
  Extent programs(Context& ctx, std::size_t config, const Dims& dims) override;
  lazy::CtaScratch scratch(std::size_t config) const override;
  void launch(Context& ctx, std::size_t config, const Extent& programs, void* scratch) override;
  std::string key(Context& ctx) override;
  std::string_view forgotten_dim() const override { return choice_->forgotten_dim(); }
  std::vector<std::string_view> accumulated() const override;

  const Package& package() const { return choice_->package(); }

  std::shared_ptr<const TunedChoice> choice_;
  const references::Reference* reference_;
  lazy::Rules rules_;
  lazy::LazyLauncher launcher_;
  LoadedKernels kernels_;
};

}  // namespace redzone::package
