// Repeats of a call (CallStep::repeat).
#pragma once

#include <redzone/spec.h>

#include <algorithm>

namespace redzone {

// Whether each repeat of a call has its own buffers, because a call on inout tensors changes its
// inputs. Each repeat is then observed separately, and only the last has the index of the call.
inline bool repeats_have_own_buffers(const TargetSpec& spec) {
  return std::any_of(spec.tensors.begin(), spec.tensors.end(),
                     [](const TensorSpec& t) { return t.role_of || t.role == Role::inout; });
}

}  // namespace redzone
