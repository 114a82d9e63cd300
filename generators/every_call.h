// Enumerates the calls of a small spec, for specs for which random drawing found no allowed call.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>

#include "core/plan.h"
#include "generators/internal/space.h"

namespace redzone::generators {

// All dims under all settings of the knobs that are drawn, without layouts; includes calls that the
// constraints forbid. Order: the first setting of the knobs first, each dim ascending.
class EveryCall {
 public:
  // Borrows the space.
  explicit EveryCall(const Space& space);

  // Number of calls; nullopt if it exceeds `most`.
  std::optional<std::size_t> count(std::size_t most) const;
  Call at(std::size_t index) const;

 private:
  const Space* space_;
};

// Counts how often each constraint was the first to reject a call.
class Rejections {
 public:
  void add(const Constraint* constraint);
  // "; constraint 'N must be odd' rejects 12 of them" for the constraint with the highest count; ""
  // if no constraint was counted.
  std::string text() const;

 private:
  std::map<std::string, std::size_t> counts_;
};

}  // namespace redzone::generators
