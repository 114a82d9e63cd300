// One call of a package, resolved without a device: the values of its arguments, the variants that
// serve it, its launch, and the scratch that the launch needs.
#pragma once

#include <redzone/target.h>

#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <tl/expected.hpp>
#include <vector>

#include "package/package.h"

namespace redzone::package {

// The number of multiprocessors of an H100, for dry runs: persistent grids depend on it.
inline constexpr int kUsualMultiprocessors = 132;

// Triton's class of an integer or an address.
Class class_of(std::int64_t value);

struct ResolvedCall {
  Values values;                      // values for expressions, except num_sms
  std::vector<Constant> arguments;    // value of each argument; unspecified for tensors
  std::vector<std::size_t> variants;  // those that serve the call; they differ only in the classes
                                      // of addresses
                                      // addresses
};

// Resolves everything except the variants. An error names the expression without a value, the
// integer outside its type, or the invalid shape.
tl::expected<ResolvedCall, std::string> evaluate(const Package& package, const Dims& dims,
                                                 const Config& config);

// Like evaluate(), with the variants. An error if no variant serves these knobs, constants and
// classes.
tl::expected<ResolvedCall, std::string> resolve(const Package& package, const Dims& dims,
                                                const Config& config);

// The variant for these addresses, indexed by argument (0 for non-tensors). If there is none, an
// error names the classes.
tl::expected<std::size_t, std::string> choose(const Package& package, const ResolvedCall& call,
                                              std::span<const std::uintptr_t> addresses);

// The alignment that a tensor's address needs so that some variant accepts it: the alignment in the
// description, or 16 if no variant is of class "other", or if the description has no alignment and
// variants depend on the address. 0: the description has no alignment, and any address is accepted.
std::size_t least_align(const Package& package, std::size_t tensor);

struct ScratchPlan {
  std::size_t bytes = 0;
  std::size_t align = 1;
  std::size_t bytes_per_cta = 0;
};

struct LaunchPlan {
  Extent programs;    // values of the grid expressions
  LaunchShape shape;  // grid in CTAs: programs * num_ctas along x
  ScratchPlan global, profile;

  // True if there are no programs: then nothing is launched, as in Triton's launcher.
  bool empty() const { return programs.x <= 0 || programs.y <= 0 || programs.z <= 0; }
};

// The grid of programs. An error if a grid expression has no value, or a negative one. An extent
// may be 0.
tl::expected<Extent, std::string> programs_of(const Package& package, Values values,
                                              int multiprocessors);

// The launch for the given programs. An error if the scratch exceeds 2^62 bytes.
tl::expected<LaunchPlan, std::string> launch_of(const Package& package, const Variant& variant,
                                                const Extent& programs);

// Whether the predicates of the description hold for one setting of its knobs.
bool setting_allows(const Package& package, const Dims& dims, const Config& setting);

}  // namespace redzone::package
