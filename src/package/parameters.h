// The parameters of one launch, laid out for the compiled kernel.
#pragma once

#include <redzone/target.h>

#include <cstdint>
#include <span>
#include <vector>

#include "package/call.h"
#include "package/package.h"

namespace redzone::package {

// Owns the bytes that args() points to.
class Parameters {
 public:
  // The parameters are the arguments that `variant` passes, in order, then both scratch pointers,
  // which may be null. `addresses`: addresses of tensors, by argument.
  Parameters(const Package& package, const Variant& variant, const ResolvedCall& call,
             std::span<const std::uintptr_t> addresses, void* global, void* profile);
  Parameters(const Parameters&) = delete;
  Parameters& operator=(const Parameters&) = delete;

  LaunchArgs args() const { return {pointers_.data(), sizes_.data(), sizes_.size()}; }

 private:
  std::vector<std::uint64_t> slots_;  // no parameter has more than 8 bytes; little endian
  std::vector<void*> pointers_;
  std::vector<std::size_t> sizes_;
};

}  // namespace redzone::package
