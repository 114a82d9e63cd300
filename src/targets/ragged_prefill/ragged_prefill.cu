#include "ragged_prefill.h"

#include <array>
#include <cmath>
#include <cstdio>

#include "descriptors.h"
#include "prefill_kernels.cuh"
#include "ragged_reference.h"

namespace redzone::ragged {
namespace {

enum class Loads { tma, plain, none };  // none: the call has ended

struct Maps {
  TensorMap q, k, v;
};

Loads refused(Context& ctx, const Operand& operand, const EncodeStatus& status) {
  if (ctx.ended()) return Loads::none;
  const std::string& then = ctx.knob_str("on_refusal");
  if (then == "fallback") return Loads::plain;
  if (then == "launch") {
    std::fprintf(stderr, "ragged_prefill: the descriptor of %s: error %d\n", operand.name,
                 status.code);
    return Loads::tma;
  }
  ctx.fail("tensor-map",
           std::string("the descriptor of '") + operand.name + "' was not encoded: " + status.why);
  return Loads::none;
}

Loads encode(Context& ctx, const std::array<Operand, 3>& operands, Maps& maps) {
  for (const Operand& operand : operands)
    if (!operand.fits_tma()) return Loads::plain;
  TensorMap* const to[] = {&maps.q, &maps.k, &maps.v};
  for (std::size_t i = 0; i < operands.size(); ++i) {
    const auto status = ctx.encode_tiled(operands[i].name, operands[i].descriptor(), *to[i]);
    if (status) continue;
    const Loads loads = refused(ctx, operands[i], status);
    if (loads != Loads::tma) return loads;
  }
  return Loads::tma;
}

template <class E>
Rows<E> rows(const TensorArg& t) {
  return {t.data<E>(), t.strides[0], t.strides[1]};
}

template <class E>
Prefill<E> arguments(Context& ctx) {
  Prefill<E> p = {};
  p.q = rows<const E>(ctx.tensor("q"));
  p.k = rows<const E>(ctx.tensor("k"));
  p.v = rows<const E>(ctx.tensor("v"));
  p.o = rows<E>(ctx.tensor("o"));
  p.q_offsets = ctx.tensor("q_offsets").data<const int>();
  p.k_offsets = ctx.tensor("k_offsets").data<const int>();
  p.batch = static_cast<int>(ctx.dim("B"));
  p.group = static_cast<int>(ctx.dim("HQ") / ctx.dim("HK"));
  p.width = static_cast<int>(ctx.dim("D"));
  p.causal = static_cast<int>(ctx.knob("causal"));
  p.scale = 1.0f / std::sqrt(static_cast<float>(p.width));
  return p;
}

LaunchShape one_thread_each(std::int64_t items) {
  return {{(items + kThreads - 1) / kThreads}, {kThreads}, 0};
}

template <class E>
void verify(Context& ctx, const Prefill<E>& p) {
  const std::int64_t heads = ctx.dim("HQ"), rows = ctx.dim("TQ") * heads;
  const std::size_t bytes = static_cast<std::size_t>(rows * p.width) * sizeof(float);
  auto* want = static_cast<float*>(ctx.scratch("want", bytes, sizeof(float)));
  if (ctx.ended()) return;
  launch(ctx, "naive_prefill", naive_prefill<E>, one_thread_each(rows), p, heads, want);
  // Both sides are rounded, and the naive kernel sums in another order.
  const float tolerance = std::is_same_v<E, bf16> ? 1.0f / 64 : 1.0f / 512;
  launch(ctx, "compare", compare<E>, one_thread_each(rows * p.width), p, heads, rows, want,
         tolerance, tolerance);
}

template <class E>
void enqueue(Context& ctx, const Maps& maps, Loads loads) {
  const Prefill<E> p = arguments<E>(ctx);
  const std::int64_t tiles = (ctx.dim("TQ") + kTile - 1) / kTile + p.batch;
  const LaunchShape shape = {{tiles, ctx.dim("HQ")}, {kThreads}, Shared<E>::bytes(p.width)};
  const auto kernel = loads == Loads::tma ? prefill<E, true> : prefill<E, false>;
  launch(ctx, "ragged_prefill", kernel, shape, maps.q, maps.k, maps.v, p);
  if (ctx.knob("verify") != 0) verify(ctx, p);
}

}  // namespace

void RaggedPrefill::reference(ReferenceCall& call) const {
  reference_attention(call, call.input("q_offsets"), call.input("k_offsets"), call.dim("D"));
}

void RaggedPrefill::run(Context& ctx) {
  if (ctx.dim("TQ") == 0) return;
  const std::array<Operand, 3> operands = {Operand::of("q", ctx.tensor("q"), rules_),
                                           Operand::of("k", ctx.tensor("k"), rules_),
                                           Operand::of("v", ctx.tensor("v"), rules_)};
  Maps maps;
  const Loads loads = encode(ctx, operands, maps);
  if (loads == Loads::none) return;
  if (ctx.knob_str("dtype") == "bf16")
    enqueue<bf16>(ctx, maps, loads);
  else
    enqueue<f16>(ctx, maps, loads);
}

}  // namespace redzone::ragged
