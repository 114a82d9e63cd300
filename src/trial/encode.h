// TMA descriptors that a target could not encode.
#pragma once

#include <redzone/tensor_map.h>

#include <span>
#include <string_view>
#include <vector>

#include "core/trial.h"

namespace redzone::trial {

// Which rule it breaks, in words. `code` is the device's answer.
EncodeObservation refused_encode(std::int32_t call, std::string_view name,
                                 const tma::Descriptor& descriptor, int code,
                                 int compute_capability);

// Those of a trial. A wrapper that is refused once is often refused for each tile of each call, and
// putting a rule into words takes longer than asking the device: what is kept is explained, and
// what is like the one before it has its words.
class RefusedEncodes {
 public:
  // What the target is told.
  EncodeStatus note(std::int32_t call, std::string_view name, const tma::Descriptor& descriptor,
                    int code, int compute_capability);
  void clear();
  // At most kMostEncodeObservations, in order; one that equals its predecessor is left out.
  const std::vector<EncodeObservation>& all() const { return all_; }

 private:
  std::vector<EncodeObservation> all_;
  tma::Descriptor last_;  // the latest that was explained
};

// A fault of a call that could not encode a descriptor says so.
void explain_by_encodes(Fault& fault, std::span<const EncodeObservation> encodes);

}  // namespace redzone::trial
