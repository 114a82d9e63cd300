// Targets for plans whose tensors lie in the memory of earlier calls (addresses = "reused"): bugs
// that have nothing to do with addresses, and what a launcher keeps by the address of a tensor.
#include <redzone/kernel.h>
#include <redzone/target.h>

#include <cstdint>
#include <map>

namespace {

using redzone::Context;
using redzone::DType;
using redzone::ReferenceCall;
using redzone::Role;
using redzone::shape_of;
using redzone::TargetSpec;
using redzone::TensorSpec;

TargetSpec spec_of(const char* name) {
  TargetSpec spec;
  spec.name = name;
  spec.dims = {{.name = "N", .min = 1, .max = 8192}};
  spec.tensors = {TensorSpec::of("x", DType::f32, Role::in, shape_of({"N"})),
                  TensorSpec::of("y", DType::f32, Role::out, shape_of({"N"}))};
  return spec;
}

__global__ void scale(const float* x, const float* factor, std::int64_t n, float* y) {
  for (std::int64_t i = 0; i < n; ++i) y[i] = x[i] * *factor;
}

// The host writes the factor of the next call while the copy of the last one waits.
struct Factor : redzone::Target {
  static TargetSpec spec() {
    TargetSpec spec = spec_of("reuse.factor");
    spec.knobs = {{.name = "factor", .values = {2, 3}}};
    spec.deterministic = false;
    spec.has_reference = true;
    spec.capturable = false;
    return spec;
  }
  void run(Context& ctx) override {
    auto* const host = static_cast<float*>(ctx.pinned_memory("factor", sizeof(float)));
    auto* const factor = static_cast<float*>(ctx.scratch("factor", sizeof(float)));
    if (ctx.ended()) return;
    *host = static_cast<float>(ctx.knob("factor"));
    ctx.copy(factor, host, sizeof(float));
    redzone::launch(ctx, "scale", scale, {}, ctx.tensor("x").data<float>(), factor, ctx.dim("N"),
                    ctx.tensor("y").data<float>());
  }
  void reference(ReferenceCall& call) const override {
    const auto x = call.input("x");
    const auto factor = static_cast<double>(redzone::get_int(call.config(), "factor"));
    for (std::size_t i = 0; i < x.size(); ++i) call.output("y")[i] = factor * x[i];
  }
};

__global__ void copy_and_more(const float* x, std::int64_t n, std::int64_t turns, float* y) {
  volatile std::int64_t turn = 0;
  while (turn < turns) turn = turn + 1;
  const std::int64_t beyond = turns > 0 ? 40 : 0;
  for (std::int64_t i = 0; i < n + beyond; ++i) y[i] = i < n ? x[i] : 1;
}

// The write beyond y comes when later calls have been enqueued.
struct Late : redzone::Target {
  static TargetSpec spec() {
    TargetSpec spec = spec_of("reuse.late");
    spec.knobs = {{.name = "turns", .values = {0, 30'000'000}}};
    return spec;
  }
  void run(Context& ctx) override {
    redzone::launch(ctx, "copy_and_more", copy_and_more, {}, ctx.tensor("x").data<float>(),
                    ctx.dim("N"), ctx.knob("turns"), ctx.tensor("y").data<float>());
  }
};

__global__ void write_scratch(const float* x, std::int64_t n, float* first, std::int64_t rows,
                              float* second, float* y) {
  const std::int64_t beyond = rows == 10 ? 2000 : 0;
  for (std::int64_t i = 0; i < rows + beyond; ++i) first[i] = 1;
  for (std::int64_t i = 0; i < 1000; ++i) second[i] = 1;
  for (std::int64_t i = 0; i < n; ++i) y[i] = x[i];
}

// With 10 rows it writes beyond 'first'.
struct TwoScratch : redzone::Target {
  static TargetSpec spec() {
    TargetSpec spec = spec_of("reuse.two_scratch");
    spec.knobs = {{.name = "rows", .values = {1500, 10}}};
    return spec;
  }
  void run(Context& ctx) override {
    const std::int64_t rows = ctx.knob("rows");
    auto* const first = static_cast<float*>(ctx.scratch("first", rows * sizeof(float)));
    auto* const second = static_cast<float*>(ctx.scratch("second", 1000 * sizeof(float)));
    if (ctx.ended()) return;
    redzone::launch(ctx, "write_scratch", write_scratch, {}, ctx.tensor("x").data<float>(),
                    ctx.dim("N"), first, rows, second, ctx.tensor("y").data<float>());
  }
};

// Keeps the first element of each x by its address and length.
struct Kept : redzone::Target {
  static TargetSpec spec(const char* name, bool remembers) {
    TargetSpec spec = spec_of(name);
    spec.capturable = false;
    spec.remembers_addresses = remembers;
    return spec;
  }
  void run(Context& ctx) override {
    const auto* const x = ctx.tensor("x").data<float>();
    auto*& first = first_[{x, ctx.dim("N")}];
    if (first == nullptr) {
      first = static_cast<float*>(ctx.allocate("first", sizeof(float)));
      if (ctx.ended()) return;
      ctx.copy(first, x, sizeof(float));
    }
    redzone::launch(ctx, "scale", scale, {}, x, first, ctx.dim("N"), ctx.tensor("y").data<float>());
  }

 private:
  std::map<std::pair<const float*, std::int64_t>, float*> first_;
};

}  // namespace

REDZONE_PLUGIN(registrar) {
  registrar.add<Factor>();
  registrar.add<Late>();
  registrar.add<TwoScratch>();
  registrar.add(Kept::spec("reuse.kept", true), [] { return std::make_unique<Kept>(); });
  registrar.add(Kept::spec("reuse.kept_silent", false), [] { return std::make_unique<Kept>(); });
}
