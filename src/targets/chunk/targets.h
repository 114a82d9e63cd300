// The four targets. The math of each stands at the top of its source file; there, x_t^T y_t is the
// outer product of the rows of token t, G_i the sum of the log decays of chunk i.
#pragma once

#include <redzone/target.h>

#include "launcher.h"

namespace redzone::chunk {

class FwdH : public Target {
 public:
  static TargetSpec spec();
  void run(Context& ctx) override;
  void reference(ReferenceCall& call) const override;
  void reference_rows(SampledCall& call) const override;

 private:
  Launcher launcher_;
};

class FwdPhase1 : public Target {
 public:
  static TargetSpec spec();
  void run(Context& ctx) override;
  void reference(ReferenceCall& call) const override;
  void reference_rows(SampledCall& call) const override;

 private:
  Launcher launcher_;
};

class BwdDh : public Target {
 public:
  static TargetSpec spec();
  void run(Context& ctx) override;
  void reference(ReferenceCall& call) const override;
  void reference_rows(SampledCall& call) const override;

 private:
  Launcher launcher_;
};

class BwdDhCorrection : public Target {
 public:
  static TargetSpec spec();
  void run(Context& ctx) override;
  void reference(ReferenceCall& call) const override;
  void reference_rows(SampledCall& call) const override;

 private:
  Launcher launcher_;
};

}  // namespace redzone::chunk
