// The plugin `flashinfer`: FlashInfer's own ragged prefill under Redzone. The target derives the
// sequence lengths from the dims, because FlashInfer needs them on the host to plan; all strides
// are passed on unchanged.
#include <redzone/target.h>

#include <vector>

#include "launch.h"
#include "lengths.h"
#include "ragged_reference.h"

namespace redzone::flashinfer_target {
namespace {

LayoutRules layouts() {
  LayoutRules rules = LayoutRules::strided();
  rules.transposed = false;
  rules.heads_first = rules.slice = true;
  rules.granule_elems = 8;  // TMA requires strides and bases that are multiples of 16 bytes
  return rules;
}

TensorSpec rows(std::string name, Role role, const char* tokens, const char* heads) {
  TensorSpec t;
  t.name = std::move(name);
  t.dtype = DType::bf16;
  t.role = role;
  t.shape = [tokens, heads](const Dims& d) { return Shape{get(d, tokens), get(d, heads), kWidth}; };
  t.layouts = layouts();
  t.align_bytes = 16;  // loads of TMA, and vectors of eight elements
  return t;
}

Rows rows_of(const TensorArg& t) {
  return {t.base, t.strides[0], t.strides[1]};
}

class RaggedPrefill final : public Target {
 public:
  static TargetSpec spec() {
    TargetSpec s;
    s.name = "flashinfer_ragged_prefill";
    s.doc = "FlashInfer's ragged prefill of FlashAttention-3 (head dim 128, bf16)";
    s.dims = {DimSpec::of("B", 1, 16, "sequences"),
              DimSpec::of("TQ", 1, 16384, "queries of all sequences", 128),
              DimSpec::of("TK", 1, 16384, "keys of all sequences", 128),
              DimSpec::of("HQ", 1, 32, "query heads"),
              DimSpec::of("HK", 1, 32, "key and value heads"),
              DimSpec::of("L", 0, 63, "which lengths: 0 equal ones, else some of them empty")};
    s.constraints = {Constraint::divides("HK", "HQ")};
    s.tensors = {rows("q", Role::in, "TQ", "HQ"), rows("k", Role::in, "TK", "HK"),
                 rows("v", Role::in, "TK", "HK"), rows("o", Role::out, "TQ", "HQ")};
    s.knobs = {{"causal",
                {std::int64_t{0}, std::int64_t{1}},
                "1: row i sees keys 0 .. i + keys - queries"}};
    s.tolerance = {1.0 / 64, 1.0 / 64};
    s.has_reference = true;
    s.only_compute_capability = 90;
    s.capturable = false;  // plans on the host
    s.work = [](const Dims& d, const Config&) {
      const auto real = [&](const char* name) { return static_cast<double>(get(d, name)); };
      return 2 * real("TQ") * (real("TK") / real("B") + 128) * real("HQ") * kWidth;
    };
    return s;
  }

  void run(Context& ctx) override {
    if (const char* why = missing()) return ctx.unsupported(why);
    const auto q_offsets = offsets_of(ctx.dims(), "TQ"), k_offsets = offsets_of(ctx.dims(), "TK");
    Prefill p;
    p.q = rows_of(ctx.tensor("q"));
    p.k = rows_of(ctx.tensor("k"));
    p.v = rows_of(ctx.tensor("v"));
    p.o = rows_of(ctx.tensor("o"));
    p.q_offsets = q_offsets.data();
    p.k_offsets = k_offsets.data();
    p.batch = static_cast<int>(ctx.dim("B"));
    p.q_heads = static_cast<int>(ctx.dim("HQ"));
    p.k_heads = static_cast<int>(ctx.dim("HK"));
    p.causal = ctx.knob("causal") != 0;
    const std::size_t bytes = workspace_bytes(ctx.dim("TQ"), p.batch, p.q_heads);
    p.host_workspace = ctx.pinned_memory(plan_name(ctx), bytes);
    p.device_workspace = ctx.scratch("plan", bytes);
    p.stream = ctx.stream();
    if (ctx.ended()) return;
    if (const char* error = enqueue(p)) ctx.fail("flashinfer", error);
  }

  void reference(ReferenceCall& call) const override {
    const auto doubles = [](const std::vector<int>& v) {
      return std::vector<double>(v.begin(), v.end());
    };
    ragged::reference_attention(call, doubles(offsets_of(call.dims(), "TQ")),
                                doubles(offsets_of(call.dims(), "TK")), kWidth);
  }

 private:
  // The copy to the device may run long after the next call has planned, so calls with different
  // tables have separate workspaces.
  static std::string plan_name(const Context& ctx) {
    std::string name = "plan";
    for (const auto& [dim, value] : ctx.dims()) name += " " + dim + "=" + std::to_string(value);
    return name + (ctx.knob("causal") != 0 ? " causal" : "");
  }
};

}  // namespace
}  // namespace redzone::flashinfer_target

REDZONE_PLUGIN(registrar) {
  registrar.add<redzone::flashinfer_target::RaggedPrefill>();
}
