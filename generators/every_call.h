// The calls of a small spec one by one, where drawing them has found none that is allowed.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>

#include "core/plan.h"
#include "generators/internal/space.h"

namespace redzone::generators {

// All dims under all settings of the knobs that are drawn, without layouts and whether the
// constraints allow them or not: the first setting first, and each dim ascending.
class EveryCall {
 public:
  // Borrows the space.
  explicit EveryCall(const Space& space);

  // Nothing if there are more than `most`.
  std::optional<std::size_t> count(std::size_t most) const;
  Call at(std::size_t index) const;

 private:
  const Space* space_;
};

// How often each constraint was the first that rejects a call.
class Rejections {
 public:
  void add(const Constraint* constraint);
  // "; constraint 'N must be odd' rejects 12 of them", of the one with the most; "" without any.
  std::string text() const;

 private:
  std::map<std::string, std::size_t> counts_;
};

}  // namespace redzone::generators
