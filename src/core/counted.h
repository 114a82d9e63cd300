// Outputs whose valid length depends on the data: TensorSpec::counted_by.
#pragma once

#include <redzone/spec.h>

#include <optional>
#include <string>

namespace redzone {

// Whether some output of the target is counted.
bool counts_outputs(const TargetSpec& spec);

// Index in spec.tensors of the tensor that counts the entries of this one, which must be counted.
// It exists if the declaration has no problem.
std::size_t counter_of(const TensorSpec& tensor, const TargetSpec& spec);

// What is wrong with how `tensor` is counted, as one clause: in its declaration, or in a call.
// Nothing if it is not counted.
std::optional<std::string> counting_problem(const TensorSpec& tensor, const TargetSpec& spec);
std::optional<std::string> counting_problem(const TensorSpec& tensor, const TargetSpec& spec,
                                            const Dims& dims, const Config& config);

}  // namespace redzone
