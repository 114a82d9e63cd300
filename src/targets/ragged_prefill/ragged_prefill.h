// Ragged prefill as a target: attention over sequences that are packed along tokens, with grouped
// heads, in the manner of FlashAttention-3's and FlashInfer's wrappers. The wrapper encodes one
// descriptor each for queries, keys and values on the host, from the strides of the tensors.
//
// If no descriptor can be encoded (a base or a stride that is not a multiple of 16 bytes, a
// negative stride, zero tokens), it uses a kernel with plain loads.
#pragma once

#include <redzone/target.h>

#include "rules.h"

namespace redzone::ragged {

class RaggedPrefill final : public Target {
 public:
  explicit RaggedPrefill(const Rules& rules) : rules_(rules) {}

  // Dims B (sequences), TQ and TK (queries and keys of all), HQ and HK (their heads), D. q [TQ, HQ,
  // D]; k and v [TK, HK, D]; q_offsets and k_offsets [B + 1]; o [TQ, HQ, D].
  static TargetSpec spec(std::string name, Category category, const Variant& variant = {});

  void run(Context& ctx) override;
  void reference(ReferenceCall& call) const override;

 private:
  Rules rules_;
};

// Adds the wrapper as a target.
void add(Registrar& registrar, const std::string& name, Category category, const Variant& variant);

}  // namespace redzone::ragged
