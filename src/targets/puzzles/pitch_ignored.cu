// puzzle: pitch_ignored
// bug: padded rows are read as if they were contiguous: what lies between the rows gets in
// kin: kernels that take a pointer and a shape and never ask for strides
// expect: uninitialized y
// minimal: 1 call; R=2 C=1 x.row_padding=1
#include "strides.h"

namespace redzone::puzzles {
namespace pitch_ignored {

struct Padded {
  static constexpr const char* kName = "pitch_ignored";
  static constexpr LayoutRules kRules{.row_padding = true, .offset = true};
};

template <bool kFixed>
struct PitchIgnored : Halve<Padded, kFixed> {};

}  // namespace pitch_ignored

void add_pitch_ignored(Registrar& registrar) {
  add_pair<pitch_ignored::PitchIgnored>(registrar);
}

}  // namespace redzone::puzzles
