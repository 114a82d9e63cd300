// Code shared by all launchers of packages.
#pragma once

#include <redzone/target.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "package/call.h"
#include "package/package.h"
#include "references/references.h"

namespace redzone::package {

// The kernels of a package, each loaded on its first use.
class LoadedKernels {
 public:
  explicit LoadedKernels(std::shared_ptr<const Package> package)
      : package_(std::move(package)), kernels_(package_->compiled.size()) {}

  // `compiled`: index in Package::compiled.
  const KernelRef& get(Context& ctx, std::size_t compiled);

 private:
  std::shared_ptr<const Package> package_;
  std::vector<std::optional<KernelRef>> kernels_;
};

// Addresses of tensors, by argument; 0 for non-tensors.
std::vector<std::uintptr_t> addresses_of(Context& ctx, const Package& package);

// Requests the scratch that the launch needs, and declares the need; null if it needs none.
void* take_scratch(Context& ctx, const char* name, const ScratchPlan& plan,
                   const LaunchPlan& launch);

// Whether the argument has a numeric value that a reference can read.
bool is_number(const Argument& argument);
references::Numbers numbers_of(const Package& package, const ResolvedCall& call);

}  // namespace redzone::package
