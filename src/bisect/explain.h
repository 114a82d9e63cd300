// What a bisection found, in short sentences, each with the runs that it rests on.
#pragma once

#include <string>
#include <vector>

#include "bisect/bisect.h"

namespace redzone::bisect {

struct Statement {
  std::string text;  // no full stop
  Relevance relevance = Relevance::unknown;
  // The runs of all values that it speaks of.
  Counts fails;   // with the failing plan's kind of setting
  Counts passes;  // with the others; empty where it does not matter
};

// What the failure needs first, then what it does not depend on, then what is not known.
std::vector<Statement> explain(const Bisection& bisection);

// "Fails when call 1 has another D than call 2; no knob matters".
std::string sentence(const Bisection& bisection);

}  // namespace redzone::bisect
