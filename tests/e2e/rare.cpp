// Targets that use what few targets need: outputs whose length depends on the data, a role that a
// knob decides, a workspace that grows, and work that a process does once. Each exists without and
// with a bug.
#include <redzone/kernel.h>
#include <redzone/target.h>

#include <cstdint>

namespace {

using redzone::Context;
using redzone::DType;
using redzone::ReferenceCall;
using redzone::Role;
using redzone::shape_of;
using redzone::TargetSpec;
using redzone::TensorSpec;

TargetSpec spec_of(const char* name, std::vector<TensorSpec> tensors) {
  TargetSpec spec;
  spec.name = name;
  spec.dims = {{.name = "N", .min = 1, .max = 512}};
  spec.tensors = std::move(tensors);
  spec.has_reference = true;
  return spec;
}

// The places of the positive elements of x, in order, and how many there are.
__global__ void keep(const float* x, std::int64_t n, bool bug, std::int64_t* places,
                     std::int32_t* count) {
  std::int32_t found = 0;
  for (std::int64_t i = 0; i < n; ++i)
    if (x[i] > 0) places[found++] = i;
  if (bug && n % 8 == 0 && found > 0) --places[found - 1];
  *count = found;
}

struct Keep : redzone::Target {
  explicit Keep(bool bug) : bug_(bug) {}
  static TargetSpec spec(const char* name, bool counted) {
    TensorSpec places = TensorSpec::of("places", DType::i64, Role::out, shape_of({"N"}));
    if (counted) places.counted_by = redzone::CountedBy{"count"};
    return spec_of(name, {TensorSpec::of("x", DType::f32, Role::in, shape_of({"N"})), places,
                          TensorSpec::of("count", DType::i32, Role::out, shape_of({}))});
  }
  void run(Context& ctx) override {
    redzone::launch(ctx, "keep", keep, {}, ctx.tensor("x").data<float>(), ctx.dim("N"), bug_,
                    ctx.tensor("places").data<std::int64_t>(),
                    ctx.tensor("count").data<std::int32_t>());
  }
  void reference(ReferenceCall& call) const override {
    const auto x = call.input("x");
    std::size_t found = 0;
    for (std::size_t i = 0; i < x.size(); ++i)
      if (x[i] > 0) call.output("places")[found++] = static_cast<double>(i);
    call.output("count")[0] = static_cast<double>(found);
  }

 private:
  bool bug_;
};

__global__ void add(const float* x, std::int64_t n, bool adds, float* y) {
  for (std::int64_t i = 0; i < n; ++i) y[i] = adds ? y[i] + x[i] : x[i];
}

struct Add : redzone::Target {
  explicit Add(bool bug) : bug_(bug) {}
  static TargetSpec spec(const char* name) {
    TensorSpec y = TensorSpec::of("y", DType::f32, Role::out, shape_of({"N"}));
    y.role_of = [](const redzone::Config& config) {
      return redzone::get_str(config, "mode") == "add" ? Role::inout : Role::out;
    };
    TargetSpec spec =
        spec_of(name, {TensorSpec::of("x", DType::f32, Role::in, shape_of({"N"})), y});
    spec.knobs = {{"mode", {std::string("set"), std::string("add")}}};
    return spec;
  }
  void run(Context& ctx) override {
    const bool adds = ctx.knob_str("mode") == "add" || (bug_ && ctx.dim("N") % 8 == 0);
    redzone::launch(ctx, "add", add, {}, ctx.tensor("x").data<float>(), ctx.dim("N"), adds,
                    ctx.tensor("y").data<float>());
  }
  void reference(ReferenceCall& call) const override {
    const auto x = call.input("x");
    for (std::size_t i = 0; i < x.size(); ++i)
      call.output("y")[i] = x[i] + (call.knob_str("mode") == "add" ? call.input("y")[i] : 0);
  }

 private:
  bool bug_;
};

__global__ void through(const float* x, std::int64_t n, float* workspace, float* y) {
  for (std::int64_t i = 0; i < n; ++i) workspace[i] = x[i];
  for (std::int64_t i = 0; i < n; ++i) y[i] = workspace[i];
}

struct Grow : redzone::Target {
  explicit Grow(bool bug) : bug_(bug) {}
  static TargetSpec spec(const char* name) {
    TargetSpec spec = spec_of(name, {TensorSpec::of("x", DType::f32, Role::in, shape_of({"N"})),
                                     TensorSpec::of("y", DType::f32, Role::out, shape_of({"N"}))});
    spec.capturable = false;  // a captured call would be refused
    return spec;
  }
  void run(Context& ctx) override {
    const auto bytes = static_cast<std::size_t>(ctx.dim("N")) * sizeof(float);
    auto* workspace = static_cast<float*>(ctx.growing_workspace("rows", bytes));
    if (ctx.ended()) return;
    if (first_ == nullptr) {
      first_ = workspace;
      elements_of_first_ = ctx.dim("N");
    }
    if (bug_ && ctx.dim("N") <= elements_of_first_) workspace = first_;
    redzone::launch(ctx, "through", through, {}, ctx.tensor("x").data<float>(), ctx.dim("N"),
                    workspace, ctx.tensor("y").data<float>());
  }
  void reference(ReferenceCall& call) const override {
    const auto x = call.input("x");
    for (std::size_t i = 0; i < x.size(); ++i) call.output("y")[i] = x[i];
  }

 private:
  bool bug_;
  float* first_ = nullptr;  // of the first call: freed, once the workspace has grown
  std::int64_t elements_of_first_ = 0;
};

// Launches nothing, and nothing can tell: what it may change stays as it was.
struct Idle : redzone::Target {
  static TargetSpec spec() {
    TargetSpec spec =
        spec_of("rare.idle", {TensorSpec::of("y", DType::f32, Role::inout, shape_of({"N"}))});
    spec.has_reference = false;
    return spec;
  }
  void run(Context&) override {}
};

float warmth = 0;  // set once in each process

__global__ void store(float value, float* y) {
  *y = value;
}

struct Warm : redzone::Target {
  static TargetSpec spec() {
    return spec_of("rare.warm", {TensorSpec::of("y", DType::f32, Role::out, shape_of({}))});
  }
  void run(Context& ctx) override {
    redzone::launch(ctx, "store", store, {}, warmth, ctx.tensor("y").data<float>());
  }
  void reference(ReferenceCall& call) const override { call.output("y")[0] = 1; }
};

__global__ void clear(std::int32_t* flag) {
  *flag = 0;
}

// y = x, or -x where `flag` is set.
__global__ void flip(const float* x, const std::int32_t* flag, float* y, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) y[i] = *flag != 0 ? -x[i] : x[i];
}

// Without a reference: whatever else than 0 the flag holds, the output is the same. With the bug
// nobody sets it, and it is right in memory that was never used.
struct Flip : redzone::Target {
  explicit Flip(bool bug) : bug_(bug) {}
  static TargetSpec spec(const char* name) {
    TargetSpec spec = spec_of(name, {TensorSpec::of("x", DType::f32, Role::in, shape_of({"N"})),
                                     TensorSpec::of("y", DType::f32, Role::out, shape_of({"N"}))});
    spec.has_reference = false;
    return spec;
  }
  void run(Context& ctx) override {
    auto* flag = static_cast<std::int32_t*>(ctx.scratch("flag", sizeof(std::int32_t)));
    if (flag == nullptr) return;
    if (!bug_) redzone::launch(ctx, "clear", clear, {}, flag);
    redzone::launch(ctx, "flip", flip, {}, ctx.tensor("x").data<float>(), flag,
                    ctx.tensor("y").data<float>(), ctx.dim("N"));
  }

 private:
  bool bug_;
};

}  // namespace

REDZONE_PLUGIN(registrar) {
  registrar.add(Flip::spec("rare.flip"), [] { return std::make_unique<Flip>(false); });
  registrar.add(Flip::spec("rare.flip_bug"), [] { return std::make_unique<Flip>(true); });
  registrar.warm_up([] { warmth += 1; });
  registrar.add<Idle>();
  registrar.add<Warm>();
  registrar.add(Keep::spec("rare.keep", true), [] { return std::make_unique<Keep>(false); });
  registrar.add(Keep::spec("rare.keep_bug", true), [] { return std::make_unique<Keep>(true); });
  registrar.add(Keep::spec("rare.keep_silent", false),
                [] { return std::make_unique<Keep>(false); });
  registrar.add(Add::spec("rare.add"), [] { return std::make_unique<Add>(false); });
  registrar.add(Add::spec("rare.add_bug"), [] { return std::make_unique<Add>(true); });
  registrar.add(Grow::spec("rare.grow"), [] { return std::make_unique<Grow>(false); });
  registrar.add(Grow::spec("rare.grow_bug"), [] { return std::make_unique<Grow>(true); });
}
