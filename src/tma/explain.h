// What is wrong with the descriptors of a log, in words.
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
  wrong,        // the driver rejects it, and it is known why
  unexplained,  // the driver rejected it, and no rule that is known here is broken
  clean,        // nothing wrong with it
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
  std::size_t line = 0;   // of the first such block; 0 when it came from flags
  std::size_t times = 1;  // blocks with the same values
  // The values as read; what could not be read has a harmless one, and is in `not_judged`.
  Descriptor descriptor;
  std::optional<Outcome> outcome;
  std::vector<Advice> broken;           // what the driver rejects
  std::vector<Advice> doubtful;         // of which it is not known whether the driver rejects it
  std::vector<std::string> not_judged;  // "boxDim is missing", ...
  std::vector<std::string> notes;       // sentences
};

struct Explanation {
  std::vector<Diagnosis> diagnoses;  // in the order of the text
  std::size_t blocks = 0;            // with the repeated ones and those left out
  std::size_t left_out = 0;          // beyond kMaxDiagnoses different ones
};
inline constexpr std::size_t kMaxDiagnoses = 256;

Diagnosis diagnose(const Block& block);
// Of values that are all known.
Diagnosis diagnose(const Descriptor& descriptor);
Explanation explain(std::string_view text);

}  // namespace redzone::tma
