// Describes the result of a bisection in short sentences, each with the runs that support it.
#pragma once

#include <string>
#include <vector>

#include "bisect/bisect.h"

namespace redzone::bisect {

struct Statement {
  std::string text;  // without full stop
  Relevance relevance = Relevance::unknown;
  // Counts of all values that the sentence covers.
  Counts fails;   // with the failing plan's setting
  Counts passes;  // with other settings; empty if the setting does not matter
};

// Statements in this order: what the failure needs, what it does not depend on, what is unknown.
std::vector<Statement> explain(const Bisection& bisection);

// "Fails when call 1 has another D than call 2; no knob matters".
std::string sentence(const Bisection& bisection);

}  // namespace redzone::bisect
