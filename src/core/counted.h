// Outputs whose valid length depends on the data: TensorSpec::counted_by.
#pragma once

#include <redzone/spec.h>

#include <optional>
#include <string>

namespace redzone {

// Whether some output of the target is counted.
bool counts_outputs(const TargetSpec& spec);

// Index in spec.tensors of the tensor that holds the number of valid entries of `tensor`. Requires
// that `tensor` is counted and that counting_problem() finds no problem in its declaration.
std::size_t counter_of(const TensorSpec& tensor, const TargetSpec& spec);

// The problem with the counting of `tensor`, in its declaration or in a call, as one clause;
// nothing if there is no problem or it is not counted.
std::optional<std::string> counting_problem(const TensorSpec& tensor, const TargetSpec& spec);
std::optional<std::string> counting_problem(const TensorSpec& tensor, const TargetSpec& spec,
                                            const Dims& dims, const Config& config);

}  // namespace redzone
