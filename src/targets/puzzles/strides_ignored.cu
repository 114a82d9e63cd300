// puzzle: strides_ignored
// bug: a transposed input is read as if it were contiguous
// kin: kernels that take a pointer and a shape and never ask for strides
// expect: reference y
// minimal: 1 call; R=2 C=2 x.transposed
#include "strides.h"

namespace redzone::puzzles {
namespace strides_ignored {

struct Transposed {
  static constexpr const char* kName = "strides_ignored";
  static constexpr LayoutRules kRules{.transposed = true, .unit_strides = true};
};

template <bool kFixed>
struct StridesIgnored : Halve<Transposed, kFixed> {};

}  // namespace strides_ignored

void add_strides_ignored(Registrar& registrar) {
  add_pair<strides_ignored::StridesIgnored>(registrar);
}

}  // namespace redzone::puzzles
