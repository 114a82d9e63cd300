#include "targets/chunk_runner.h"

#include <cstdio>
#include <cstdlib>
#include <stdexcept>

#include "core/plan_text.h"
#include "core/validate.h"
#include "targets/chunk_plugin.h"

namespace redzone::test {

ChunkRunner::ChunkRunner(std::unique_ptr<device::Device> device) : device_(std::move(device)) {
  const auto& info = device_->info();
  for (const auto& t : chunk_targets()) {
    const auto added = registry_.add({.spec = t.spec, .device = info.kind, .make = t.make});
    if (!added) throw std::runtime_error(added.error().message);
  }
  runner_ = std::make_unique<trial::TrialRunner>(*device_, registry_, info.kind, nullptr,
                                                 trial::limits_for(info));
}

ChunkRunner::~ChunkRunner() {
  if (!runner_->device_lost()) return;
  std::fflush(nullptr);
  std::_Exit(1);
}

std::size_t ChunkRunner::expect_clean(const Plan& plan, const TargetSpec& spec) {
  std::size_t compared = 0;
  compare_trials(plan, spec, compared);
  return compared;
}

void ChunkRunner::compare_trials(const Plan& plan, const TargetSpec& spec, std::size_t& compared) {
  SCOPED_TRACE(print_plan(plan));
  const auto valid = validate(plan, spec);
  ASSERT_TRUE(valid) << valid.error().message;

  TrialSpec forwards;
  forwards.mode = {Launch::gated, Allocator::guard, Placement::guard_after, 0xffffffffu, 11};
  forwards.reference = true;
  TrialSpec backwards;
  backwards.mode = {Launch::blocking, Allocator::guard, Placement::guard_before, 0x3f8ccccdu, 0};
  const auto count = static_cast<std::uint32_t>(calls_of(plan).size());
  for (std::uint32_t i = count; i-- > 0;) backwards.order.push_back(i);

  const Observation a = run(plan, forwards);
  ASSERT_EQ(a.end, End::completed) << a.message << (a.fault ? a.fault->detail : "");
  const Observation b = run(plan, backwards);
  ASSERT_EQ(b.end, End::completed) << b.message << (b.fault ? b.fault->detail : "");
  for (const auto* o : {&a, &b}) {
    ASSERT_EQ(o->calls.size(), count);
    for (const auto& call : o->calls)
      for (const auto& buffer : call.buffers) {
        EXPECT_EQ(buffer.dirty_before + buffer.dirty_after + buffer.dirty_gaps, 0u) << buffer.name;
        EXPECT_EQ(buffer.changed, 0u) << buffer.name;
      }
  }
  for (std::uint32_t i = 0; i < count; ++i) {
    compared += a.calls[i].references.size();
    for (const auto& r : a.calls[i].references)
      EXPECT_EQ(r.mismatches, 0u) << "call " << i << " " << r.tensor << "[" << r.first_index
                                  << "]: got " << r.got << ", want " << r.want;
    ASSERT_EQ(a.calls[i].buffers.size(), b.calls[i].buffers.size());
    for (std::size_t k = 0; k < a.calls[i].buffers.size(); ++k) {
      const auto& x = a.calls[i].buffers[k];
      const auto& y = b.calls[i].buffers[k];
      ASSERT_EQ(x.name, y.name);
      if (x.scratch) continue;
      EXPECT_EQ(x.digest, y.digest) << "call " << i << " " << x.name;
    }
  }
}

void ChunkTest::SetUp() {
  auto opened = open_test_device();
  if (const auto* why = std::get_if<std::string>(&opened)) GTEST_SKIP() << *why;
  runner_.emplace(std::move(std::get<0>(opened)));
}

const TargetSpec& ChunkTest::spec() const {
  return chunk_target(GetParam()).spec;
}

}  // namespace redzone::test
