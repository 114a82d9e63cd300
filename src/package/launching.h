// What every launcher of a package does alike.
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

// The kernels of a package, each loaded where it is asked for first.
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

// Of tensors, by argument; 0 for what is none.
std::vector<std::uintptr_t> addresses_of(Context& ctx, const Package& package);

// Asks for what the launch needs, with the need; null where it needs nothing.
void* take_scratch(Context& ctx, const char* name, const ScratchPlan& plan,
                   const LaunchPlan& launch);

// Has a value that is a number, for a reference to read.
bool is_number(const Argument& argument);
references::Numbers numbers_of(const Package& package, const ResolvedCall& call);

}  // namespace redzone::package
