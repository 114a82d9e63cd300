// A target that does nothing, with the name that the plugin gives.
#pragma once

#include <redzone/target.h>

struct Noop : redzone::Target {
  void run(redzone::Context&) override {}
};

inline redzone::TargetSpec noop_spec(std::string name) {
  redzone::TargetSpec spec;
  spec.name = std::move(name);
  spec.tensors = {{.name = "x", .shape = redzone::shape_of({})}};
  return spec;
}

inline void add_noop(redzone::Registrar& registrar, std::string name) {
  registrar.add(noop_spec(std::move(name)), [] { return std::make_unique<Noop>(); });
}
