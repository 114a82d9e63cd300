// One call of a package, resolved without a device: what its arguments come to, which variants
// serve it, what is launched, and the scratch that the launch needs.
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

// An H100's: for grids that are judged where no device is open. A persistent one depends on it.
inline constexpr int kUsualMultiprocessors = 132;

// Triton's class of an integer or an address.
Class class_of(std::int64_t value);

struct ResolvedCall {
  Values values;                      // what expressions read; num_sms is not among them
  std::vector<Constant> arguments;    // what each comes to; of a tensor: nothing of use
  std::vector<std::size_t> variants;  // serve the call; they differ in the classes of addresses
};

// All but the variants. An error says what has no value: an expression, an integer that its type
// does not hold, a shape that is none.
tl::expected<ResolvedCall, std::string> evaluate(const Package& package, const Dims& dims,
                                                 const Config& config);

// The same, and an error where no variant serves these knobs, constants and classes.
tl::expected<ResolvedCall, std::string> resolve(const Package& package, const Dims& dims,
                                                const Config& config);

// The variant for these addresses, by argument (0 for what is none); an error names the classes.
tl::expected<std::size_t, std::string> choose(const Package& package, const ResolvedCall& call,
                                              std::span<const std::uintptr_t> addresses);

// The alignment that a tensor's address has to have for some variant to take it: that of the
// description, or 16 where no variant is of class "other".
std::size_t least_align(const Package& package, std::size_t tensor);

struct ScratchPlan {
  std::size_t bytes = 0;
  std::size_t align = 1;
  std::size_t bytes_per_cta = 0;
};

struct LaunchPlan {
  Extent programs;    // of the grid expressions
  LaunchShape shape;  // grid in CTAs: programs * num_ctas along x
  ScratchPlan global, profile;

  // No program: nothing is launched, as Triton's launcher does it.
  bool empty() const { return programs.x <= 0 || programs.y <= 0 || programs.z <= 0; }
};

// An error: a grid expression without a value, or a negative one. An extent may be 0.
tl::expected<Extent, std::string> programs_of(const Package& package, Values values,
                                              int multiprocessors);

// For programs wherever they come from. An error: scratch beyond 2^62 bytes.
tl::expected<LaunchPlan, std::string> launch_of(const Package& package, const Variant& variant,
                                                const Extent& programs);

// Both.
tl::expected<LaunchPlan, std::string> plan_launch(const Package& package, const Variant& variant,
                                                  Values values, int multiprocessors);

}  // namespace redzone::package
