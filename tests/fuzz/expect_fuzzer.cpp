// A plan with its expected failure.
#include "core/repro.h"
#include "fuzz/harness.h"

using namespace redzone;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text = fuzz::text_of(data, size);
  const auto repro = parse_repro(text);
  if (!repro) return 0;
  // The comment may be any text: it contains a reason that a target gave.
  const auto again = parse_repro(print_repro(*repro, text));
  fuzz::require(again.has_value(), "what is printed of a repro is a repro, whatever its comment");
  fuzz::require(*again == *repro, "a repro that is printed and read is the same repro");
  return 0;
}
