// cuFFT, loaded at run time, with the cuFFT plans of this process.
#pragma once

#include <compare>
#include <cstddef>
#include <string>

#include "common/recently_used.h"
#include "common/shared_library.h"

namespace redzone::libraries::cufft {

// One side's arguments of cufftMakePlanMany64 ("3.3. cuFFT Plan Many"). Element (b, x, y) of a
// batch is at b * dist + (x * embed + y) * stride; in one dimension element (b, x) is at b * dist +
// x * stride.
struct Side {
  long long embed = 1, stride = 1, dist = 1;
  auto operator<=>(const Side&) const = default;
};
struct PlanKey {
  int rank = 1;
  long long n[2] = {1, 1};
  Side in, out;
  int type = 0;  // cufftType
  long long batch = 1;
  auto operator<=>(const PlanKey&) const = default;
};

struct FftPlan {
  int handle = 0;
  std::size_t workspace_bytes = 0;
};

class Library {
 public:
  Library();

  // Explains why nothing can be called; "" if the library is usable.
  const std::string& problem() const { return problem_; }
  template <class F>
  F* function(const std::string& name) const {
    return reinterpret_cast<F*>(library_.symbol(name));
  }
  // Stores a plan for which the caller provides the workspace, and keeps it for later calls.
  // Returns a cufftResult.
  int plan(const PlanKey& key, FftPlan& plan);

 private:
  int make(const PlanKey& key, FftPlan& plan);

  SharedLibrary library_;
  std::string problem_;
  RecentlyUsed<PlanKey, FftPlan> plans_;
};

// The library of this process. A worker runs one trial at a time.
Library& library();

}  // namespace redzone::libraries::cufft
