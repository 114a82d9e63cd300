// Puzzles made from the lazily compiled launch with one wrong rule, and the fixed variant with all
// rules correct.
#pragma once

#include <string>

#include "lazy_launch.h"

namespace redzone::puzzles {

inline void add_lazy_pair(Registrar& registrar, const std::string& name, const lazy::Rules& wrong) {
  lazy::add(registrar, "puzzle." + name, Category::puzzle, wrong);
  lazy::add(registrar, "twin." + name, Category::twin, {});
}

}  // namespace redzone::puzzles
