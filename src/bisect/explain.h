// Describes the result of a bisection in short sentences, each with the runs that support it.
#pragma once

#include <string>
#include <vector>

#include "bisect/bisect.h"

namespace redzone::bisect {

struct Statement {
  std::string text;  // no full stop
  Relevance relevance = Relevance::unknown;
  // The runs of all values that the sentence covers.
  Counts fails;   // with the failing plan's kind of setting
  Counts passes;  // with the other settings; empty if it does not matter
};

// First what the failure needs, then what it does not depend on, then what is unknown.
std::vector<Statement> explain(const Bisection& bisection);

// "Fails when call 1 has another D than call 2; no knob matters".
std::string sentence(const Bisection& bisection);

}  // namespace redzone::bisect
