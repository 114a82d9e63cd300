// Explains the errors of the descriptors in a log.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/enum_names.h"
#include "tma/advice.h"
#include "tma/block.h"

namespace redzone::tma {

enum class Verdict : std::uint8_t {
  wrong,        // the driver rejects the descriptor, for a known reason
  unexplained,  // the driver rejected the descriptor, but it breaks no known rule
  clean,        // no problem found
  unreadable    // too few fields could be read
};

constexpr auto enum_table(Verdict) {
  return enum_names<Verdict>("verdict", {{Verdict::wrong, "wrong"},
                                         {Verdict::unexplained, "unexplained"},
                                         {Verdict::clean, "clean"},
                                         {Verdict::unreadable, "unreadable"}});
}

struct Diagnosis {
  Verdict verdict = Verdict::unreadable;
  std::size_t line = 0;   // line of the first such block; 0 if the descriptor came from flags
  std::size_t times = 1;  // blocks with the same values
  // The values as read. An unreadable value is replaced by a harmless one and listed in
  // `not_judged`.
  Descriptor descriptor;
  std::optional<Outcome> outcome;
  std::vector<Advice> broken;  // rejected by the driver
  // Broken rules of which it is unknown whether the driver enforces them
  std::vector<Advice> doubtful;
  std::vector<std::string> not_judged;  // "boxDim is missing", ...
  std::vector<std::string> notes;       // sentences
};

struct Explanation {
  std::vector<Diagnosis> diagnoses;  // in the order of the text
  std::size_t blocks = 0;            // including repeated and omitted blocks
  std::size_t left_out = 0;          // omitted because there are kMaxDiagnoses different ones
};
inline constexpr std::size_t kMaxDiagnoses = 256;

Diagnosis diagnose(const Block& block);
// For a descriptor with only known values.
Diagnosis diagnose(const Descriptor& descriptor);
Explanation explain(std::string_view text);

}  // namespace redzone::tma
