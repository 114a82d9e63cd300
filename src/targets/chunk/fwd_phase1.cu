// chunk_fwd_phase1: the state that each chunk would leave if it began at zero. No scan: all chunks
// at once.
//
//   s[i] = sum over tokens t of chunk i of exp(sum of g behind t, to the end of the chunk) k_t^T
//   v_t
//
// One kernel, which sums the gates of its chunk itself.
#include "instances.h"
#include "reference.h"
#include "spec_parts.h"
#include "targets.h"

namespace redzone::chunk {
namespace {

struct FwdPhase1Kernel {
  static constexpr const char* name = "chunk_fwd_phase1";
  template <class E, int RDIM, int BV, int WARPS>
  static auto function() {
    return &redzone_chunk::fwd_phase1<E, RDIM, BV, WARPS>;
  }
};

constexpr Family kFwdPhase1Family = {FwdPhase1Kernel::name, "fwd_phase1",
                                     &host_instance<FwdPhase1Kernel>};

LaunchShape launch_of(const Problem& p) {
  return p.sum_launch(p.sizes.N * p.sum_tiles());
}

}  // namespace

TargetSpec FwdPhase1::spec() {
  TargetSpec s = family_spec("chunk_fwd_phase1",
                             "chunked linear attention: local state of each chunk, without scan");
  s.tensors = {tokens("k", "D"), tokens("v", "DV"), log_decays(), chunk_states("s", Role::out)};
  s.work = scan_work;
  s.geometry = [](const Dims& dims, const Config& config) -> Geometry {
    const auto p = Problem::of(dims, config);
    return {{declare(FwdPhase1Kernel::name, launch_of(p))}, offset_products(p)};
  };
  return s;
}

void FwdPhase1::run(Context& ctx) {
  const auto p = Problem::of(ctx.dims(), ctx.config());
  const KernelRef kernel = launcher_.find(ctx, kFwdPhase1Family, p);
  if (ctx.ended()) return;
  with_element(p.key.bf16, [&]<class E>(E) {
    launch_exact(ctx, kernel, launch_of(p), p.sizes, strided<const E>(ctx.tensor("k")),
                 strided<const E>(ctx.tensor("v")), strided<const float>(ctx.tensor("g")),
                 strided<E>(ctx.tensor("s")));
  });
}

void FwdPhase1::reference(ReferenceCall& call) const {
  reference_fwd_phase1(call);
}

void FwdPhase1::reference_rows(SampledCall& call) const {
  reference_rows_fwd_phase1(call);
}

}  // namespace redzone::chunk
