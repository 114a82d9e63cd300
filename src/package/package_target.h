// A package as a target: what it accepts, and how a call is launched.
#pragma once

#include <redzone/target.h>

#include <memory>

#include "core/error.h"
#include "package/launching.h"
#include "package/package.h"
#include "package/settings.h"
#include "references/references.h"

namespace redzone::package {

// What `package` says to the generator, the oracles and the reader of reports, with the knobs that
// `settings` of it give. Calls that no variant serves are excluded by a constraint; launches are
// declared for calls that leave no choice.
TargetSpec spec_of(std::shared_ptr<const Package> package,
                   std::shared_ptr<const Settings> settings);

// The reference that the package names; null when it names none. A usage error when there is none
// of that name, or when it reads something that the package does not have.
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
