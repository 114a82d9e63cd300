#include "cufft/library.h"

namespace redzone::libraries::cufft {
namespace {

// Must exceed the number of plans in one trial, because transforms of the trial may still be queued
// when a plan is dropped. Each plan holds tables in device memory.
constexpr std::size_t kMostPlans = 512;

}  // namespace

Library::Library()
    : library_({"libcufft.so.12", "libcufft.so.11", "libcufft.so"}),
      plans_(kMostPlans,
             [this](FftPlan& plan) { function<int(int)>("cufftDestroy")(plan.handle); }) {
  if (!library_.loaded()) problem_ = "cuFFT is not installed: " + library_.problem();
  for (const char* name : {"cufftCreate", "cufftDestroy", "cufftSetAutoAllocation",
                           "cufftMakePlanMany64", "cufftSetStream", "cufftSetWorkArea",
                           "cufftExecC2C", "cufftExecR2C", "cufftExecZ2Z", "cufftExecD2Z"})
    if (problem_.empty() && library_.symbol(name) == nullptr)
      problem_ = library_.file() + " has no " + name;
}

int Library::plan(const PlanKey& key, FftPlan& plan) {
  if (const FftPlan* known = plans_.find(key); known != nullptr) {
    plan = *known;
    return 0;
  }
  const int status = make(key, plan);
  if (status == 0) plans_.add(key, plan);
  return status;
}

int Library::make(const PlanKey& key, FftPlan& plan) {
  if (const int status = function<int(int*)>("cufftCreate")(&plan.handle); status != 0)
    return status;
  int status = function<int(int, int)>("cufftSetAutoAllocation")(plan.handle, 0);
  long long n[2] = {key.n[0], key.n[1]};
  // The layout's formula does not use the first number.
  long long in[2] = {n[0], key.in.embed}, out[2] = {n[0], key.out.embed};
  if (status == 0)
    status =
        function<int(int, int, long long*, long long*, long long, long long, long long*, long long,
                     long long, int, long long, std::size_t*)>("cufftMakePlanMany64")(
            plan.handle, key.rank, n, in, key.in.stride, key.in.dist, out, key.out.stride,
            key.out.dist, key.type, key.batch, &plan.workspace_bytes);
  if (status != 0) function<int(int)>("cufftDestroy")(plan.handle);
  return status;
}

Library& library() {
  static Library one;
  return one;
}

}  // namespace redzone::libraries::cufft
