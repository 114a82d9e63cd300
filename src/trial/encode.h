// TMA descriptors that a target could not encode.
#pragma once

#include <redzone/tensor_map.h>

#include <span>
#include <string_view>
#include <vector>

#include "core/trial.h"

namespace redzone::trial {

// Explains as text which rule the descriptor breaks. `code` is the device's result.
EncodeObservation refused_encode(std::int32_t call, std::string_view name,
                                 const tma::Descriptor& descriptor, int code,
                                 int compute_capability);

// The refused descriptors of a trial. An invalid descriptor is often refused for each tile of each
// call, and explaining a rule takes longer than the encode itself. Therefore only descriptors that
// are kept are explained, and a descriptor equal to its predecessor reuses the text.
class RefusedEncodes {
 public:
  // Returns the status for the target.
  EncodeStatus note(std::int32_t call, std::string_view name, const tma::Descriptor& descriptor,
                    int code, int compute_capability);
  void clear();
  // At most kMostEncodeObservations, in order; an observation equal to its predecessor is omitted.
  const std::vector<EncodeObservation>& all() const { return all_; }

 private:
  std::vector<EncodeObservation> all_;
  tma::Descriptor last_;  // the last descriptor that was explained
};

// Adds to a fault's detail that its call could not encode a descriptor.
void explain_by_encodes(Fault& fault, std::span<const EncodeObservation> encodes);

}  // namespace redzone::trial
