// chunk_bwd_dh_correction: adds to the gradient of each chunk's state the contribution of dht, the
// gradient of the last state.
//
//   dh[i] = local[i] + exp(G_{i+1} + ... + G_{N-1}) dht
//
// from the last chunk to the first: at step j, i = N-1-j. Two kernels: the gates of all chunks into
// scratch, then the correction.
#include "instances.h"
#include "reference.h"
#include "spec_parts.h"
#include "targets.h"

namespace redzone::chunk {
namespace {

struct BwdDhCorrectionKernel {
  static constexpr const char* name = "chunk_bwd_dh_correction";
  template <class E, int RDIM, int BV, int WARPS>
  static auto function() {
    return &redzone_chunk::bwd_dh_correction<E, RDIM, BV, WARPS>;
  }
};

constexpr Family kBwdDhCorrectionFamily = {BwdDhCorrectionKernel::name, "bwd_dh_correction",
                                           &host_instance<BwdDhCorrectionKernel>};

}  // namespace

TargetSpec BwdDhCorrection::spec() {
  TargetSpec s = family_spec("chunk_bwd_dh_correction",
                             "chunked linear attention: backward correction from the last state");
  s.tensors = {chunk_states("local", Role::in), log_decays(), sequence_state("dht", Role::in),
               chunk_states("dh", Role::out)};
  s.work = [](const Dims& dims, const Config& config) {
    const auto p = Problem::of(dims, config);
    return p.stream_work(static_cast<double>(p.stream_tiles()), static_cast<double>(p.sizes.N));
  };
  s.geometry = [](const Dims& dims, const Config& config) -> Geometry {
    const auto p = Problem::of(dims, config);
    return {{declare("chunk_gates", p.gates_launch()),
             declare(BwdDhCorrectionKernel::name, p.stream_launch(p.stream_tiles()))},
            offset_products(p)};
  };
  return s;
}

void BwdDhCorrection::run(Context& ctx) {
  const auto p = Problem::of(ctx.dims(), ctx.config());
  auto* totals = static_cast<float*>(ctx.scratch("totals", p.totals_bytes(), sizeof(float)));
  if (ctx.ended()) return;
  launcher_.sum_gates<true>(ctx, p, nullptr, totals);
  const KernelRef kernel = launcher_.find(ctx, kBwdDhCorrectionFamily, p);
  if (ctx.ended()) return;
  with_element(p.key.bf16, [&]<class E>(E) {
    launch_exact(ctx, kernel, p.stream_launch(p.stream_tiles()), p.sizes,
                 strided<const E>(ctx.tensor("local")), static_cast<const float*>(totals),
                 strided<const float>(ctx.tensor("dht")), strided<E>(ctx.tensor("dh")));
  });
}

void BwdDhCorrection::reference(ReferenceCall& call) const {
  reference_bwd_dh_correction(call);
}

void BwdDhCorrection::reference_rows(SampledCall& call) const {
  reference_rows_bwd_dh_correction(call);
}

}  // namespace redzone::chunk
