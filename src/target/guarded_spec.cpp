#include "target/guarded_spec.h"

#include <fmt/format.h>

#include <cmath>
#include <exception>
#include <string>
#include <utility>

#include "core/spec_mistake.h"
#include "core/target_text.h"
#include "core/terminal.h"
#include "target/known_enumerator.h"

namespace redzone {
namespace {

std::string call_of(const Dims& dims) {
  return describe(dims, {});
}
std::string call_of(const Config& config) {
  return describe({}, config);
}
std::string call_of(const Dims& dims, const Config& config) {
  return describe(dims, config);
}

// The target of the guarded functions, and its watch.
struct Owner {
  std::string target;
  std::shared_ptr<SpecWatch> watch;

  template <class R, class... A>
  void guard(std::function<R(A...)>& function, std::string name) const {
    if (!function) return;
    SpecCalls::Function* watched =
        watch == nullptr ? nullptr
                         : watch->keep(printable(fmt::format("target '{}': {}", target, name)));
    function = [call = std::move(function), owner = *this, name = std::move(name),
                watched](A... arguments) -> R {
      const auto threw = [&](const std::string& what) {
        return SpecMistake(SpecMistake::Kind::of_the_call, owner.target, name, "threw " + what,
                           call_of(arguments...));
      };
      const SpecCalls::Running running(owner.watch.get(), watched);
      try {
        return call(arguments...);
      } catch (const SpecMistake&) {
        throw;
      } catch (const SpecError& e) {
        throw SpecMistake(SpecMistake::Kind::undeclared, owner.target, name, target_line(e.what()),
                          "");
      } catch (const std::exception& e) {
        throw threw(fmt::format("\"{}\"", target_line(e.what())));
      } catch (...) {
        throw threw("something that is not a std::exception");
      }
    };
  }
};

// Wraps a function of the spec that returns an enumerator: a number that is not an enumerator
// throws SpecMistake.
template <class E>
std::function<E(const Config&)> known(std::function<E(const Config&)> of, std::string target,
                                      std::string name, std::string what) {
  return [of = std::move(of), target = std::move(target), name = std::move(name),
          what = std::move(what)](const Config& config) {
    const E value = of(config);
    if (!is_known(value))
      throw SpecMistake(SpecMistake::Kind::of_the_call, target, name,
                        fmt::format("gives {}, which is not {}", static_cast<int>(value), what),
                        call_of(config));
    return value;
  };
}

bool is_tolerance(double value) {
  return std::isfinite(value) && value >= 0;
}

}  // namespace

TargetSpec guarded(TargetSpec spec, const std::shared_ptr<SpecWatch>& watch) {
  const Owner owner{spec.name, watch};
  for (auto& constraint : spec.constraints)
    owner.guard(constraint.holds, fmt::format("constraint '{}'", constraint.text));
  for (auto& tensor : spec.tensors) {
    owner.guard(tensor.shape, fmt::format("the shape function of tensor '{}'", tensor.name));
    owner.guard(tensor.shape_with_knobs,
                fmt::format("the shape function of tensor '{}'", tensor.name));
    if (tensor.dtype_of) {
      const std::string name = fmt::format("the dtype function of tensor '{}'", tensor.name);
      owner.guard(tensor.dtype_of, name);
      tensor.dtype_of = known(std::move(tensor.dtype_of), spec.name, name, "a DType");
    }
    if (tensor.role_of) {
      const std::string name = fmt::format("the role function of tensor '{}'", tensor.name);
      owner.guard(tensor.role_of, name);
      tensor.role_of = known(std::move(tensor.role_of), spec.name, name, "a Role");
    }
    owner.guard(tensor.fill.range,
                fmt::format("the range of the fill of tensor '{}'", tensor.name));
  }
  if (spec.tolerance_of) {
    const std::string name = "the tolerance function";
    owner.guard(spec.tolerance_of, name);
    spec.tolerance_of = [of = std::move(spec.tolerance_of), target = spec.name,
                         name](const Config& config) {
      const Tolerance tolerance = of(config);
      for (const double value : {tolerance.abs, tolerance.rel})
        if (!is_tolerance(value))
          throw SpecMistake(SpecMistake::Kind::of_the_call, target, name,
                            fmt::format("gives {}, which is not a finite number >= 0", value),
                            call_of(config));
      return tolerance;
    };
  }
  owner.guard(spec.work, "the work function");
  owner.guard(spec.geometry, "the geometry function");
  return spec;
}

}  // namespace redzone
