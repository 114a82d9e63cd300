// Mistakes in the functions of a spec, and the functions that apply to a call.
#pragma once

#include <redzone/spec.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "core/plan.h"

namespace redzone {

// Thrown in place of any exception of a function of a spec (target/guarded_spec.h): a mistake of
// the target's author. what() describes it in one clause: "target 't': the shape function of tensor
// 'x' threw "no room" for N = 5".
class SpecMistake : public SpecError {
 public:
  // undeclared: wrong for every call. of_the_call: wrong for this call. The functions of a spec may
  // fail for a call that its constraints forbid, but must never use a name that the spec does not
  // declare.
  enum class Kind : std::uint8_t { undeclared, of_the_call };
  // `function`: "the shape function of tensor 'x'". `problem`: a verb phrase, and for `undeclared`
  // the text of the error. `call`: the dims and knobs that were passed, from describe(); or "".
  SpecMistake(Kind kind, std::string_view target, std::string_view function, std::string problem,
              std::string_view call);

  Kind kind() const { return kind_; }

  // Target and function: the beginning of what(), the same for all calls.
  const std::string& whose() const { return whose_; }
  // what() without the target.
  const std::string& clause() const { return clause_; }

 private:
  SpecMistake(Kind kind, std::string_view target, std::string_view function, std::string clause);

  Kind kind_;
  std::string whose_, clause_;
};

// "C = 1, T = 4": dims, then knobs.
std::string describe(const Dims& dims, const Config& config);

// The problem with a fill range for a tensor of `elements`, as a verb phrase; nothing if it is
// valid.
std::optional<std::string> range_problem(const std::pair<std::int64_t, std::int64_t>& range,
                                         std::int64_t elements);

// The problem with a shape, as a verb phrase: too many dims, or a size below 0. Nothing if it is
// valid.
std::optional<std::string> shape_violation(const Shape& shape);

// Calls every function of the spec that applies to a call of the target, including those that
// otherwise only the worker calls. Throws their exceptions.
void try_functions(const TargetSpec& spec, const Dims& dims, const Config& config);
// Calls them for each call of a plan.
void try_functions(const TargetSpec& spec, const Plan& plan);

}  // namespace redzone
