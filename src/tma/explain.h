// Explains in words what is wrong with the descriptors of a log.
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
  wrong,        // the driver rejects it, for a known reason
  unexplained,  // the driver rejected it, but it breaks no known rule
  clean,        // no problem found
  unreadable    // too little of it could be read
};

constexpr auto enum_table(Verdict) {
  return enum_names<Verdict>("verdict", {{Verdict::wrong, "wrong"},
                                         {Verdict::unexplained, "unexplained"},
                                         {Verdict::clean, "clean"},
                                         {Verdict::unreadable, "unreadable"}});
}

struct Diagnosis {
  Verdict verdict = Verdict::unreadable;
  std::size_t line = 0;   // of the first such block; 0 if it came from flags
  std::size_t times = 1;  // blocks with the same values
  // The values as read; an unreadable one is replaced by a harmless value and listed in
  // `not_judged`.
  Descriptor descriptor;
  std::optional<Outcome> outcome;
  std::vector<Advice> broken;           // rejected by the driver
  std::vector<Advice> doubtful;         // whether the driver rejects it is unknown
  std::vector<std::string> not_judged;  // "boxDim is missing", ...
  std::vector<std::string> notes;       // sentences
};

struct Explanation {
  std::vector<Diagnosis> diagnoses;  // in the order of the text
  std::size_t blocks = 0;            // including repeated ones and those left out
  std::size_t left_out = 0;          // beyond kMaxDiagnoses different ones
};
inline constexpr std::size_t kMaxDiagnoses = 256;

Diagnosis diagnose(const Block& block);
// For a descriptor whose values are all known.
Diagnosis diagnose(const Descriptor& descriptor);
Explanation explain(std::string_view text);

}  // namespace redzone::tma
