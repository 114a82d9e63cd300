// A package under the lazily compiled launch of src/launcher: the knobs that its description marks
// with `tune` are chosen by the first call of a shape, and frozen.
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

// What a launcher of a package chooses from, and what it can do wrong.
class TunedChoice {
 public:
  explicit TunedChoice(std::shared_ptr<const Package> package);

  const Package& package() const { return *package_; }
  const std::shared_ptr<const Package>& shared() const { return package_; }
  const Settings& settings() const { return settings_; }
  // The dim to forget: the last one that the grid depends on; "" when there is none.
  const std::string& forgotten_dim() const { return forgotten_dim_; }
  // Whether a launcher of this package can make the mistake at all.
  bool can_make(const lazy::Mistake& mistake) const;

 private:
  std::shared_ptr<const Package> package_;
  Settings settings_;
  std::string forgotten_dim_;
};

// The spec but for the name. Launches are declared for calls that leave no choice.
TargetSpec lazy_spec_of(std::shared_ptr<const TunedChoice> choice);

class LazyPackageTarget final : public Target, private lazy::Kernels {
 public:
  // Under these rules, but for what the knobs of a call say.
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
