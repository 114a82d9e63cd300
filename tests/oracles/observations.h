// Observations made by hand, for tests of the code that judges them.
#pragma once

#include "core/trial.h"

namespace redzone::testing {

inline Plan plan_of_calls(const std::vector<std::int64_t>& sizes) {
  Plan plan;
  plan.target = "t";
  for (auto n : sizes) {
    CallStep step;
    step.call.dims = {{"N", n}};
    plan.steps.emplace_back(step);
  }
  return plan;
}

// Target t, whose outputs are compared with a reference.
inline TargetSpec compared_spec() {
  TargetSpec spec;
  spec.name = "t";
  spec.has_reference = true;
  return spec;
}

inline BufferObservation output(std::uint64_t digest) {
  BufferObservation b;
  b.name = "y";
  b.role = Role::out;
  b.digest = digest;
  b.numel = 4;
  return b;
}

inline BufferObservation input() {
  BufferObservation b;
  b.name = "x";
  b.role = Role::in;
  return b;
}

// A completed trial: call i has output digest digests[i].
inline Observation completed(std::vector<std::uint64_t> digests) {
  Observation o;
  o.end = End::completed;
  for (std::size_t i = 0; i < digests.size(); ++i) {
    CallObservation call;
    call.call = static_cast<std::int32_t>(i);
    call.buffers = {input(), output(digests[i])};
    o.calls.push_back(call);
  }
  return o;
}

inline Observation faulted(Fault fault) {
  Observation o;
  o.end = End::fault;
  o.fault = std::move(fault);
  return o;
}

inline Observation ended(End end, std::string message = "") {
  Observation o;
  o.end = end;
  o.message = std::move(message);
  return o;
}

}  // namespace redzone::testing
