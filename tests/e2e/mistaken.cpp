// Correct targets whose specs have a mistake for one N, which is not evaluated before the first
// plan.
#include <redzone/kernel.h>
#include <redzone/target.h>
#include <unistd.h>

#include <cstdlib>
#include <functional>
#include <string>
#include <utility>

namespace {

using redzone::Config;
using redzone::Constraint;
using redzone::Context;
using redzone::Dims;
using redzone::TargetSpec;

constexpr std::int64_t kBad = 13;

bool is_bad(const Dims& dims) {
  return redzone::get(dims, "N") == kBad;
}

__global__ void twice(const float* x, float* y, std::int64_t n) {
  for (std::int64_t i = threadIdx.x; i < n; i += blockDim.x) y[i] = 2 * x[i];
}

struct Twice : redzone::Target {
  static TargetSpec spec_of(const std::string& name) {
    TargetSpec spec;
    spec.name = "mistaken." + name;
    spec.dims = {{.name = "N", .min = 1, .max = 300}};
    spec.tensors = {{.name = "x", .shape = redzone::shape_of({"N"})},
                    {.name = "y", .role = redzone::Role::out, .shape = redzone::shape_of({"N"})}};
    return spec;
  }
  void run(Context& ctx) override {
    const auto x = ctx.tensor("x");
    redzone::launch(ctx, "twice", twice, {{1}, {64}}, x.data<float>(),
                    ctx.tensor("y").data<float>(), x.numel());
  }
};

}  // namespace

REDZONE_PLUGIN(registrar) {
  const auto add = [&](const std::string& name, const std::function<void(TargetSpec&)>& spoil) {
    TargetSpec spec = Twice::spec_of(name);
    spoil(spec);
    registrar.add(std::move(spec), [] { return std::make_unique<Twice>(); });
  };
  add("constraint", [](TargetSpec& spec) {
    spec.constraints = {Constraint::predicate("N is wanted", [](const Dims& dims, const Config&) {
      if (is_bad(dims)) throw 3;
      return true;
    })};
  });
  add("shape", [](TargetSpec& spec) {
    spec.tensors[1].shape = [](const Dims& dims) -> redzone::Shape {
      if (is_bad(dims)) throw 3;
      return {redzone::get(dims, "N")};
    };
  });
  add("fill", [](TargetSpec& spec) {
    spec.tensors[0].fill = redzone::Fill::integers([](const Dims& dims) {
      if (is_bad(dims)) throw 3;
      return std::pair<std::int64_t, std::int64_t>{0, 9};
    });
  });
  add("endless", [](TargetSpec& spec) {
    spec.work = [](const Dims& dims, const Config&) -> double {
      while (is_bad(dims)) ::usleep(1000);
      return 1;
    };
  });
  add("random", [](TargetSpec& spec) { spec.deterministic = false; });
  add("dear", [](TargetSpec& spec) {
    spec.work = [](const Dims& dims, const Config&) {
      return redzone::get(dims, "N") > 100 ? 1e8 : 1e3;
    };
  });
  // It would delay every other test that loads this plugin.
  if (std::getenv("REDZONE_TEST_SLOW_TARGET") != nullptr)
    add("slow", [](TargetSpec& spec) {
      spec.tensors[0].shape = [](const Dims& dims) {
        ::usleep(400000);
        return redzone::Shape{redzone::get(dims, "N")};
      };
    });
  add("empty", [](TargetSpec& spec) {
    for (auto& tensor : spec.tensors) tensor.shape = [](const Dims&) { return redzone::Shape{0}; };
  });
}
