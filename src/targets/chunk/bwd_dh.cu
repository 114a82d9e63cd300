// chunk_bwd_dh: the backward state scan, from the last chunk to the first.
//
//   dh[N-1] = 0;  dh[i-1] = exp(G_i) dh[i] + sum over tokens t of chunk i of
//                           exp(sum of g from the start of the chunk up to t) q_t^T do_t
//
// at step j, i = N-1-j. dh[i] is the gradient of the state after chunk i, and dh0 = dh[-1] that of
// the initial state, if nothing after the sequence depends on its last state;
// chunk_bwd_dh_correction adds that dependence. Two kernels: the gates of all chunks into scratch,
// then the scan.
#include "instances.h"
#include "reference.h"
#include "spec_parts.h"
#include "targets.h"

namespace redzone::chunk {
namespace {

struct BwdDhKernel {
  static constexpr const char* name = "chunk_bwd_dh";
  template <class E, int RDIM, int BV, int WARPS>
  static auto function() {
    return &redzone_chunk::bwd_dh<E, RDIM, BV, WARPS>;
  }
};

constexpr Family kBwdDhFamily = {BwdDhKernel::name, "bwd_dh", &host_instance<BwdDhKernel>};

}  // namespace

TargetSpec BwdDh::spec() {
  TargetSpec s = family_spec("chunk_bwd_dh", "chunked linear attention: backward state scan");
  s.tensors = {tokens("q", "D"), tokens("do", "DV"), log_decays(), chunk_states("dh", Role::out),
               sequence_state("dh0", Role::out)};
  s.work = scan_work;
  s.geometry = [](const Dims& dims, const Config& config) {
    return scan_geometry(BwdDhKernel::name, Problem::of(dims, config));
  };
  return s;
}

void BwdDh::run(Context& ctx) {
  const auto p = Problem::of(ctx.dims(), ctx.config());
  auto* weights = static_cast<float*>(ctx.scratch("weights", p.weights_bytes(), sizeof(float)));
  auto* totals = static_cast<float*>(ctx.scratch("totals", p.totals_bytes(), sizeof(float)));
  if (ctx.ended()) return;
  launcher_.sum_gates<true>(ctx, p, weights, totals);
  const KernelRef kernel = launcher_.find(ctx, kBwdDhFamily, p);
  if (ctx.ended()) return;
  with_element(p.key.bf16, [&]<class E>(E) {
    launch_exact(ctx, kernel, p.sum_launch(p.sum_tiles()), p.sizes,
                 strided<const E>(ctx.tensor("q")), strided<const E>(ctx.tensor("do")),
                 static_cast<const float*>(weights), static_cast<const float*>(totals),
                 strided<E>(ctx.tensor("dh")), strided<float>(ctx.tensor("dh0")));
  });
}

void BwdDh::reference(ReferenceCall& call) const {
  reference_bwd_dh(call);
}

void BwdDh::reference_rows(SampledCall& call) const {
  reference_rows_bwd_dh(call);
}

}  // namespace redzone::chunk
