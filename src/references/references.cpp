#include "references/references.h"

#include "targets/chunk/reference.h"

namespace redzone::references {
namespace {

// References of chunked linear attention, which read no numbers in addition to the dims.
template <void (*Run)(ReferenceCall&)>
void without_numbers(ReferenceCall& call, const Numbers&) {
  Run(call);
}

const std::vector<Reference>& all() {
  static const std::vector<std::string_view> chunk_dims{"B", "H", "T", "C", "D", "DV"};
  static const std::vector<Reference> references{
      {"attention", {"B", "S", "HQ", "HKV", "D"}, {"q", "k", "v"}, {"o"}, {"causal"}, &attention},
      {"chunk_bwd_dh",
       chunk_dims,
       {"q", "do", "g"},
       {"dh", "dh0"},
       {},
       &without_numbers<chunk::reference_bwd_dh>},
      {"chunk_bwd_dh_correction",
       chunk_dims,
       {"local", "g", "dht"},
       {"dh"},
       {},
       &without_numbers<chunk::reference_bwd_dh_correction>},
      {"chunk_fwd_h",
       chunk_dims,
       {"k", "v", "g", "h0"},
       {"h", "ht"},
       {},
       &without_numbers<chunk::reference_fwd_h>},
      {"chunk_fwd_phase1",
       chunk_dims,
       {"k", "v", "g"},
       {"s"},
       {},
       &without_numbers<chunk::reference_fwd_phase1>},
      {"matmul", {"M", "N", "K"}, {"a", "b"}, {"c"}, {}, &matmul},
      {"scale", {}, {"x"}, {"y"}, {"factor"}, &scale},
  };
  return references;
}

}  // namespace

const Reference* find(std::string_view name) {
  for (const Reference& reference : all())
    if (reference.name == name) return &reference;
  return nullptr;
}

std::vector<std::string> names() {
  std::vector<std::string> out;
  for (const Reference& reference : all()) out.emplace_back(reference.name);
  return out;
}

}  // namespace redzone::references
