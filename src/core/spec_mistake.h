// What a function of a spec did wrong, and the functions that a call is subject to.
#pragma once

#include <redzone/spec.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "core/plan.h"

namespace redzone {

// Thrown in place of whatever a function of a spec threw (target/guarded_spec.h): a mistake of the
// target's author. what() is all of it in one clause: "target 't': the shape function of tensor 'x'
// threw "no room" for N = 5".
class SpecMistake : public SpecError {
 public:
  // What holds for any call, and what does for this one. The functions of a spec need not serve a
  // call that its constraints do not allow, but must not ask for a name that it does not declare.
  enum class Kind : std::uint8_t { undeclared, of_the_call };
  // `function`: "the shape function of tensor 'x'". `problem`: what it did, as a verb and what
  // follows. `call`: the dims and knobs it was asked about, as describe() gives them; or "".
  SpecMistake(Kind kind, std::string_view target, std::string function, std::string problem,
              std::string_view call);

  Kind kind() const { return kind_; }

  const std::string& function() const { return function_; }
  // With the target: how what() begins, for whatever call.
  const std::string& whose() const { return whose_; }
  // With the call: "threw "no room" for N = 5".
  const std::string& problem() const { return problem_; }

 private:
  Kind kind_;
  std::string whose_, function_, problem_;
};

// "C = 1, T = 4": dims, then knobs.
std::string describe(const Dims& dims, const Config& config);

// What is wrong with the range that a tensor of `elements` is to be filled from: as a verb and what
// follows. Nothing when it can be.
std::optional<std::string> range_problem(const std::pair<std::int64_t, std::int64_t>& range,
                                         std::int64_t elements);

// Calls every function of the spec that a call of the target is subject to, of which only the
// worker asks some. Throws what they throw.
void try_functions(const TargetSpec& spec, const Dims& dims, const Config& config);
// The same for each call of a plan.
void try_functions(const TargetSpec& spec, const Plan& plan);

}  // namespace redzone
