// chunk_fwd_h: the forward state scan.
//
//   h[0] = h0;  h[i+1] = exp(G_i) h[i] + sum over tokens t of chunk i of
//                        exp(sum of g behind t, to the end of the chunk) k_t^T v_t
//
// for i = 0 .. N-1. Computes h[0 .. N-1], the state before each chunk, and ht = h[N]. Two kernels:
// the gates of all chunks into scratch, then the scan.
#include "instances.h"
#include "reference.h"
#include "spec_parts.h"
#include "targets.h"

namespace redzone::chunk {
namespace {

struct FwdHKernel {
  static constexpr const char* name = "chunk_fwd_h";
  template <class E, int RDIM, int BV, int WARPS>
  static auto function() {
    return &redzone_chunk::fwd_h<E, RDIM, BV, WARPS>;
  }
};

constexpr Family kFwdHFamily = {FwdHKernel::name, "fwd_h", &host_instance<FwdHKernel>};

}  // namespace

TargetSpec FwdH::spec() {
  TargetSpec s = family_spec("chunk_fwd_h", "chunked linear attention: forward state scan");
  s.tensors = {tokens("k", "D"),
               tokens("v", "DV"),
               log_decays(),
               sequence_state("h0", Role::in),
               chunk_states("h", Role::out),
               sequence_state("ht", Role::out)};
  s.work = scan_work;
  s.geometry = [](const Dims& dims, const Config& config) {
    return scan_geometry(FwdHKernel::name, Problem::of(dims, config));
  };
  return s;
}

void FwdH::run(Context& ctx) {
  const auto p = Problem::of(ctx.dims(), ctx.config());
  auto* weights = static_cast<float*>(ctx.scratch("weights", p.weights_bytes(), sizeof(float)));
  auto* totals = static_cast<float*>(ctx.scratch("totals", p.totals_bytes(), sizeof(float)));
  if (ctx.ended()) return;
  launcher_.sum_gates<false>(ctx, p, weights, totals);
  const KernelRef kernel = launcher_.find(ctx, kFwdHFamily, p);
  if (ctx.ended()) return;
  with_element(p.key.bf16, [&]<class E>(E) {
    launch_exact(ctx, kernel, p.sum_launch(p.sum_tiles()), p.sizes,
                 strided<const E>(ctx.tensor("k")), strided<const E>(ctx.tensor("v")),
                 static_cast<const float*>(weights), static_cast<const float*>(totals),
                 strided<const float>(ctx.tensor("h0")), strided<E>(ctx.tensor("h")),
                 strided<float>(ctx.tensor("ht")));
  });
}

void FwdH::reference(ReferenceCall& call) const {
  reference_fwd_h(call);
}

void FwdH::reference_rows(SampledCall& call) const {
  reference_rows_fwd_h(call);
}

}  // namespace redzone::chunk
