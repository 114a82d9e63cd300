// A package as a target: its spec, and the launch of its calls.
#pragma once

#include <redzone/target.h>

#include <memory>

#include "core/error.h"
#include "package/launching.h"
#include "package/package.h"
#include "package/settings.h"
#include "references/references.h"

namespace redzone::package {

// The spec for `package`, with the knobs of `settings`. A constraint excludes calls that no variant
// serves. Launches are declared only for calls that have one config.
TargetSpec spec_of(std::shared_ptr<const Package> package,
                   const std::shared_ptr<const Settings>& settings);

// The reference that the package names; null if it names none. A usage error if the name is
// unknown, or if the reference reads something that the package lacks.
Result<const references::Reference*> reference_of(const Package& package);

class PackageTarget final : public Target {
 public:
  // `settings`: Settings::of() the package.
  PackageTarget(std::shared_ptr<const Package> package, std::shared_ptr<const Settings> settings,
                const references::Reference* reference);

  // Launches once. A call that the package does not serve is unsupported, with the reason.
  void run(Context& ctx) override;
  void reference(ReferenceCall& call) const override;

 private:
  std::shared_ptr<const Package> package_;
  std::shared_ptr<const Settings> settings_;
  const references::Reference* reference_;
  LoadedKernels kernels_;
};

}  // namespace redzone::package
