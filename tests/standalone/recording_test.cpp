// Packages as programs: the recording of their launches, and that these are launched again in the
// same way.
#include "standalone/recording.h"

#include <gtest/gtest.h>

#include <cstring>

#include "standalone/fake_machine.h"
#include "standalone/recorded.h"

namespace redzone::standalone {
namespace {

const std::string kCubin =
    "\x7f"
    "ELF";

TargetSpec spec() {
  TargetSpec spec;
  spec.name = "p.add";
  spec.dims = {{.name = "N", .min = 1, .max = 4096}};
  spec.tensors = {{.name = "x", .shape = shape_of({"N"}), .align_bytes = 4},
                  {.name = "y", .role = Role::out, .shape = shape_of({"N"}), .align_bytes = 4}};
  return spec;
}

Plan plan_of(std::vector<std::int64_t> sizes) {
  Plan plan;
  plan.target = "p.add";
  for (const auto n : sizes) {
    CallStep step;
    step.call.dims = {{"N", n}};
    plan.steps.emplace_back(step);
  }
  return plan;
}

// Launches like a package: with addresses, an integer and scratch.
struct Add : Target {
  void run(Context& ctx) override {
    void* x = ctx.tensor("x").base;
    void* y = ctx.tensor("y").base;
    auto n = static_cast<std::int32_t>(ctx.dim("N"));
    void* scratch = ctx.scratch("global_scratch", 256, 128, {});
    VariantRequest request;
    request.name = "add";
    request.expression = "add";
    request.image = kCubin;
    void* pointers[] = {&x, &y, &n, &scratch};
    const std::size_t sizes[] = {8, 8, 4, 8};
    ctx.launch(ctx.variant(request), {{7, 1, 1}, {128}}, {pointers, sizes, 4});
  }
};

Result<std::string> recorded(const Plan& plan, TargetFactory make,
                             FailKind kind = FailKind::illegal_access) {
  const TargetSpec s = spec();
  return recorded_source({&plan, &s, std::move(make), kind});
}

TEST(Recording, HasTheCubinAndTheLaunchesWithBuffersForAddresses) {
  const auto text = recorded(plan_of({5, 300}), [] { return std::make_unique<Add>(); });
  ASSERT_TRUE(text) << text.error().message;
  for (const char* part :
       {"127,69,76,70,", "{\"add\", image_0, sizeof image_0}", "{\"global_scratch\", 256, 128}",
        "{8, 0, \"x\"}, {8, 0, \"y\"}, {4, 0x5ull}, {8, 0, nullptr, 0}", "{4, 0x12cull}",
        "{{7, 1, 1}, {128, 1, 1}, 0, 0, {1, 1, 1}, false, false}", "spec.name = \"p.add\""})
    EXPECT_NE(text->find(part), std::string::npos) << part << "\n" << *text;
  EXPECT_EQ(text->find("image_1"), std::string::npos) << "one kernel serves both calls";
}

TEST(Recording, RefusesWhatIsNotKnownBeforehand) {
  struct Keeps : Target {
    void run(Context& ctx) override { ctx.workspace("counter", 4, 4); }
  };
  const auto keeps = recorded(plan_of({5}), [] { return std::make_unique<Keeps>(); });
  ASSERT_FALSE(keeps);
  EXPECT_EQ(keeps.error().kind, ErrorKind::usage);
  EXPECT_NE(keeps.error().message.find("keeps from call to call"), std::string::npos);
}

// With 5 elements the end of a buffer is not a multiple of 16, but its start is.
TEST(Recording, RefusesAnotherKernelForAnotherPlace) {
  struct ByAddress : Target {
    void run(Context& ctx) override {
      VariantRequest request;
      request.name = "add";
      request.expression = reinterpret_cast<std::uintptr_t>(ctx.tensor("x").base) % 16 == 0
                               ? "aligned"
                               : "unaligned";
      request.image = kCubin;
      ctx.launch(ctx.variant(request), {}, {});
    }
  };
  const TargetFactory make = [] { return std::make_unique<ByAddress>(); };
  const auto tail = recorded(plan_of({5}), make);
  ASSERT_TRUE(tail) << tail.error().message;
  EXPECT_NE(tail->find("\"unaligned\""), std::string::npos) << *tail;
  EXPECT_FALSE(recorded(plan_of({5}), make, FailKind::placement));
  EXPECT_TRUE(recorded(plan_of({8}), make, FailKind::placement));
}

// Records the launches.
class LaunchLog final : public testing::FakeMachine {
 public:
  void launch(const KernelRef& kernel, const LaunchShape& shape, const LaunchArgs& args,
              int) override {
    names.emplace_back(kernel.name);
    grid_x = shape.grid.x;
    parameters.clear();
    for (std::size_t i = 0; i < args.count; ++i) {
      std::uint64_t bits = 0;
      std::memcpy(&bits, args.pointers[i], args.sizes[i]);
      parameters.push_back(bits);
    }
  }
  std::vector<std::string> names;
  std::int64_t grid_x = 0;
  std::vector<std::uint64_t> parameters;
};

TEST(Recording, IsLaunchedAgainOnTheBuffersOfTheProgram) {
  const unsigned char cubin[] = {1, 2, 3};
  const std::vector<RecordedImage> images{{"add", cubin, sizeof cubin}};
  const std::vector<RecordedCall> calls{
      {{{"global_scratch", 256, 128}},
       {{0, {{7, 1, 1}, {128}}, {{8, 0, "x"}, {4, 5}, {8, 0, nullptr, 0}}}}}};
  TensorData x{"x", DType::f32, Role::in, {4}, {1}, 16, 0, 16, raw_job(16)};
  x.job.dtype = static_cast<std::uint8_t>(DType::u8);
  Program program{};
  program.target = "p.add";
  program.streams = 1;
  program.calls = {{{{"N", 4}}, {}, 1, 0, {x}}};
  program.steps = {{StepData::Kind::call, 0, 0, 0}};
  program.trials = {{"as found", Order::blocking, true, 0xffffffffu, false}};
  LaunchLog machine;
  EXPECT_EQ(run(machine, program, [&] { return std::make_unique<RecordedTarget>(images, calls); }),
            0);
  EXPECT_EQ(machine.names, std::vector<std::string>{"add"});
  EXPECT_EQ(machine.grid_x, 7);
  ASSERT_EQ(machine.parameters.size(), 3u);
  // At the end of its mapping, which is one page here.
  EXPECT_EQ(machine.parameters[0] % 4096, 4096u - 16);
  EXPECT_EQ(machine.parameters[1], 5u);
  EXPECT_EQ(machine.parameters[2] % 4096, 4096u - 256);
}

}  // namespace
}  // namespace redzone::standalone
