// Bugs planted for the self-proof of `redzone run` and `redzone doctor` (campaign/self_proof.h and
// tool_proof.h), and a target without a bug: a harness that cannot distinguish them on a device
// must not be trusted there. Never part of a campaign.
#include <redzone/kernel.h>
#include <redzone/target.h>

#include <cstdint>
#include <map>

namespace {

using redzone::Context;
using redzone::Role;
using redzone::TargetSpec;

constexpr int kBlock = 128;

// y[first .. first + n) = x[i] + add, with x null read as 0.
__global__ void write_range(const float* x, float* y, int first, int n, float add) {
  const int i = first + static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < first + n) y[i] = (x != nullptr ? x[i] : 0.0f) + add;
}

// y = *value.
__global__ void spread(const float* value, float* y, int n) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < n) y[i] = *value;
}

// y = the number of the block that wrote last.
__global__ void last_block(float* y, int n) {
  for (int i = static_cast<int>(threadIdx.x); i < n; i += static_cast<int>(blockDim.x))
    y[i] = static_cast<float>(blockIdx.x);
}

std::int64_t blocks(std::int64_t n) {
  return (n + kBlock - 1) / kBlock;
}

void launch_write(Context& ctx, const float* x, float* y, std::int64_t first, std::int64_t n,
                  float add) {
  redzone::launch(ctx, "write_range", write_range, {{blocks(n)}, {kBlock}}, x, y,
                  static_cast<int>(first), static_cast<int>(n), add);
}

// One input and one output of N elements.
TargetSpec spec_of(std::string name, std::string doc) {
  TargetSpec s;
  s.name = "selftest." + std::move(name);
  s.doc = std::move(doc);
  s.category = redzone::Category::selftest;
  s.dims = {{.name = "N", .min = 4, .max = 4096, .multiple_of = 4}};
  s.tensors = {{.name = "x", .shape = redzone::shape_of({"N"})},
               {.name = "y", .role = Role::out, .shape = redzone::shape_of({"N"})}};
  return s;
}

struct WritePastEnd : redzone::Target {
  static TargetSpec spec() { return spec_of("write_past_end", "writes y[N]"); }
  void run(Context& ctx) override {
    launch_write(ctx, nullptr, ctx.tensor("y").data<float>(), 0, ctx.dim("N") + 1, 1);
  }
};

struct WriteBeforeStart : redzone::Target {
  static TargetSpec spec() { return spec_of("write_before_start", "writes y[-1]"); }
  void run(Context& ctx) override {
    launch_write(ctx, nullptr, ctx.tensor("y").data<float>(), -1, ctx.dim("N") + 1, 1);
  }
};

struct UnwrittenScratch : redzone::Target {
  static TargetSpec spec() { return spec_of("unwritten_scratch", "y = scratch, never written"); }
  void run(Context& ctx) override {
    const auto n = ctx.dim("N");
    const auto* scratch = static_cast<const float*>(
        ctx.scratch("scratch", static_cast<std::size_t>(n) * sizeof(float)));
    if (scratch == nullptr) return;
    launch_write(ctx, scratch, ctx.tensor("y").data<float>(), 0, n, 0);
  }
};

struct StaleState : redzone::Target {
  static TargetSpec spec() { return spec_of("stale_state", "y = the N of the first call"); }
  void run(Context& ctx) override {
    if (first_n_ == 0) first_n_ = ctx.dim("N");
    launch_write(ctx, nullptr, ctx.tensor("y").data<float>(), 0, ctx.dim("N"),
                 static_cast<float>(first_n_));
  }

 private:
  std::int64_t first_n_ = 0;
};

// The CPU overwrites host memory that the last copy has not read yet.
struct EarlyRewrite : redzone::Target {
  static TargetSpec spec() { return spec_of("early_rewrite", "y = the number of a later call"); }
  void run(Context& ctx) override {
    auto* value = static_cast<float*>(ctx.pinned_memory("value", sizeof(float)));
    void* device = ctx.scratch("value", sizeof(float));
    if (ctx.ended()) return;
    *value = static_cast<float>(++calls_);
    ctx.copy(device, value, sizeof(float));
    redzone::launch(ctx, "spread", spread, {{blocks(ctx.dim("N"))}, {kBlock}},
                    static_cast<const float*>(device), ctx.tensor("y").data<float>(),
                    static_cast<int>(ctx.dim("N")));
  }

 private:
  int calls_ = 0;
};

// A side stream reads what the call's own stream writes, without waiting for it.
struct MissingWait : redzone::Target {
  static TargetSpec spec() {
    auto s = spec_of("missing_wait", "y = a value that may not be there yet");
    s.side_streams = 1;
    return s;
  }
  void run(Context& ctx) override {
    auto* value = static_cast<float*>(ctx.scratch("value", sizeof(float)));
    if (ctx.ended()) return;
    ctx.wait(1, 0);
    launch_write(ctx, nullptr, value, 0, 1, 1);
    redzone::launch(ctx, "spread", spread, {{blocks(ctx.dim("N"))}, {kBlock}, 0, 1},
                    static_cast<const float*>(value), ctx.tensor("y").data<float>(),
                    static_cast<int>(ctx.dim("N")));
    ctx.wait(0, 1);
  }
};

// Writes a value computed on the CPU to all of y.
template <class Derived>
struct WritesValue : redzone::Target {
  void run(Context& ctx) override {
    const float value = static_cast<Derived*>(this)->value(ctx);
    if (!ctx.ended())
      launch_write(ctx, nullptr, ctx.tensor("y").data<float>(), 0, ctx.dim("N"), value);
  }
};

struct CountsCalls : WritesValue<CountsCalls> {
  static TargetSpec spec() { return spec_of("counts_calls", "y = calls of the wrapper so far"); }
  float value(Context&) { return static_cast<float>(++calls_); }

 private:
  int calls_ = 0;
};

struct CountsRuns : WritesValue<CountsRuns> {
  static TargetSpec spec() { return spec_of("counts_runs", "y = runs of this process so far"); }
  static float value(Context&) {
    static int runs = 0;
    return static_cast<float>(++runs);
  }
};

thread_local bool is_set_up = false;

struct ThreadSetUp : WritesValue<ThreadSetUp> {
  static TargetSpec spec() {
    return spec_of("thread_set_up", "y = whether the calling thread has made a target");
  }
  ThreadSetUp() { is_set_up = true; }
  float value(Context&) const { return is_set_up ? 1.0f : 0.0f; }
};

struct CountsAtAddress : WritesValue<CountsAtAddress> {
  static TargetSpec spec() { return spec_of("counts_at_address", "y = calls with y here"); }
  float value(Context& ctx) { return static_cast<float>(++calls_[ctx.tensor("y").base]); }

 private:
  std::map<const void*, int> calls_;
};

// The words of a local array that nothing has written are all equal where the stack was filled.
struct UninitializedLocal : WritesValue<UninitializedLocal> {
  static TargetSpec spec() {
    return spec_of("uninitialized_local", "y = a local array, never written");
  }
  static float value(Context&) {
    std::uint32_t words[256];
    asm volatile("" : "=m"(words));  // for the compiler they are written
    const std::uint32_t first = words[0];
    for (const auto& word : words)
      if (word != first) return 0;
    return first == 0 ? 0.0f : 1.0f;
  }
};

struct LastBlock : redzone::Target {
  static TargetSpec spec() { return spec_of("last_block", "y = the block that wrote last"); }
  void run(Context& ctx) override {
    constexpr int racing = 16;
    redzone::launch(ctx, "last_block", last_block, {{racing}, {kBlock}},
                    ctx.tensor("y").data<float>(), static_cast<int>(ctx.dim("N")));
  }
};

struct Address : WritesValue<Address> {
  static TargetSpec spec() { return spec_of("address", "y = where y lies in its page"); }
  static float value(Context& ctx) {
    return static_cast<float>(reinterpret_cast<std::uintptr_t>(ctx.tensor("y").data<float>()) %
                              4096);
  }
};

struct ReusedAddress : WritesValue<ReusedAddress> {
  static TargetSpec spec() { return spec_of("reused_address", "y = does freed memory come back?"); }
  static float value(Context& ctx) {
    constexpr std::size_t bytes = 4096;
    void* first = ctx.allocate("first", bytes);
    if (first == nullptr) return 0;
    ctx.free(first);
    void* second = ctx.allocate("second", bytes);
    if (second == nullptr) return 0;
    ctx.free(second);
    return first == second ? 1.0f : 0.0f;
  }
};

struct WriteAfterFree : redzone::Target {
  static TargetSpec spec() { return spec_of("write_after_free", "writes memory that it freed"); }
  void run(Context& ctx) override {
    const auto n = ctx.dim("N");
    auto* freed =
        static_cast<float*>(ctx.allocate("freed", static_cast<std::size_t>(n) * sizeof(float)));
    if (freed == nullptr) return;
    launch_write(ctx, nullptr, freed, 0, n, 1);
    ctx.free(freed);
    launch_write(ctx, nullptr, freed, 0, n, 2);
    launch_write(ctx, nullptr, ctx.tensor("y").data<float>(), 0, n, 1);
  }
};

// The kernel never touches the scratch, so that only the request is wrong.
struct ShortScratch : redzone::Target {
  static TargetSpec spec() { return spec_of("short_scratch", "scratch for one CTA of two"); }
  void run(Context& ctx) override {
    const redzone::ScratchNeed need{.bytes_per_cta = 64, .grid = {2, 1, 1}, .align = 16};
    ctx.scratch("scratch", 64, 16, need);
    launch_write(ctx, nullptr, ctx.tensor("y").data<float>(), 0, ctx.dim("N"), 1);
  }
};

struct OversizedBlock : redzone::Target {
  static TargetSpec spec() { return spec_of("oversized_block", "a block of 2048 threads"); }
  void run(Context& ctx) override {
    redzone::launch(ctx, "write_range", write_range, {{1}, {2048}}, nullptr,
                    ctx.tensor("y").data<float>(), 0, static_cast<int>(ctx.dim("N")), 1.0f);
  }
};

struct StaleLaunch : redzone::Target {
  static TargetSpec spec() {
    auto s = spec_of("stale_launch", "the grid of the first call");
    s.geometry = [](const redzone::Dims& dims, const redzone::Config&) -> redzone::Geometry {
      return {{{"write_range", {blocks(redzone::get(dims, "N")), 1, 1}, {kBlock, 1, 1}, 0}}, {}};
    };
    return s;
  }
  void run(Context& ctx) override {
    if (first_n_ == 0) first_n_ = ctx.dim("N");
    launch_write(ctx, nullptr, ctx.tensor("y").data<float>(), 0, first_n_, 1);
  }

 private:
  std::int64_t first_n_ = 0;
};

constexpr int kWarp = 32;

// Reads what another warp writes, with no barrier between; for racecheck.
__global__ void rotate_in_block(float* y, int n) {
  __shared__ float tile[kBlock];
  const int i = static_cast<int>(threadIdx.x);
  tile[i] = static_cast<float>(i);
  if (i < n) y[i] = tile[(i + kWarp) % kBlock];
}

struct SharedRace : redzone::Target {
  static TargetSpec spec() { return spec_of("shared_race", "a tile without its barrier"); }
  void run(Context& ctx) override {
    redzone::launch(ctx, "rotate_in_block", rotate_in_block, {{1}, {kBlock}},
                    ctx.tensor("y").data<float>(), static_cast<int>(ctx.dim("N")));
  }
};

// Half of each warp skips the barrier and exits, which releases the other half; for synccheck.
__global__ void half_at_barrier(float* y, int n) {
  const int i = static_cast<int>(threadIdx.x);
  if (i % 2 == 0) __syncthreads();
  if (i < n) y[i] = 1;
}

struct DivergentBarrier : redzone::Target {
  static TargetSpec spec() { return spec_of("divergent_barrier", "half of a warp at a barrier"); }
  void run(Context& ctx) override {
    redzone::launch(ctx, "half_at_barrier", half_at_barrier, {{1}, {kBlock}},
                    ctx.tensor("y").data<float>(), static_cast<int>(ctx.dim("N")));
  }
};

// The masks of half of the lanes do not name them.
__global__ void exchanges_unnamed(float* y, int n) {
  const int i = static_cast<int>(threadIdx.x);
  const int lane = i % kWarp;
  const float got = __shfl_sync(lane < kWarp / 2 ? 0xffffu : 0u, 1.0f, lane % (kWarp / 2));
  if (i < n) y[i] = got;
}

struct UnnamedLane : redzone::Target {
  static TargetSpec spec() { return spec_of("unnamed_lane", "a mask without its lane"); }
  void run(Context& ctx) override {
    redzone::launch(ctx, "exchanges_unnamed", exchanges_unnamed, {{1}, {kBlock}},
                    ctx.tensor("y").data<float>(), static_cast<int>(ctx.dim("N")));
  }
};

// The second half of the tile is never written.
__global__ void reads_whole_tile(float* y, int n) {
  __shared__ float tile[kBlock];
  const int i = static_cast<int>(threadIdx.x);
  if (i < kBlock / 2) tile[i] = static_cast<float>(i);
  __syncthreads();
  if (i < n) y[i] = tile[kBlock - 1 - i];
}

struct UnwrittenShared : redzone::Target {
  static TargetSpec spec() { return spec_of("unwritten_shared", "half of a tile, never written"); }
  void run(Context& ctx) override {
    redzone::launch(ctx, "reads_whole_tile", reads_whole_tile, {{1}, {kBlock}},
                    ctx.tensor("y").data<float>(), static_cast<int>(ctx.dim("N")));
  }
};

// An offset that is too large for its type.
__global__ void offset_in_int(float* y, int n, int pitch) {
  const int i = static_cast<int>(threadIdx.x);
  if (i < n) y[i] = static_cast<float>(i * pitch);
}

struct Overflow : redzone::Target {
  static TargetSpec spec() { return spec_of("overflow", "y = a product beyond 2^31"); }
  void run(Context& ctx) override {
    redzone::launch(ctx, "offset_in_int", offset_in_int, {{1}, {kBlock}},
                    ctx.tensor("y").data<float>(), static_cast<int>(ctx.dim("N")), 1 << 30);
  }
};

// y = x + add, where x + 1 is expected.
template <int kAdd>
struct AddOne : redzone::Target {
  static TargetSpec spec() {
    auto s = kAdd == 1 ? spec_of("clean", "y = x + 1") : spec_of("wrong_value", "y = x + 2");
    s.has_reference = true;
    return s;
  }
  void run(Context& ctx) override {
    launch_write(ctx, ctx.tensor("x").data<float>(), ctx.tensor("y").data<float>(), 0, ctx.dim("N"),
                 kAdd);
  }
  void reference(redzone::ReferenceCall& call) const override {
    const auto x = call.input("x");
    const auto y = call.output("y");
    for (std::size_t i = 0; i < y.size(); ++i) y[i] = x[i] + 1;
  }
};

}  // namespace

REDZONE_PLUGIN(registrar) {
  registrar.add<WritePastEnd>();
  registrar.add<WriteBeforeStart>();
  registrar.add<UnwrittenScratch>();
  registrar.add<StaleState>();
  registrar.add<EarlyRewrite>();
  registrar.add<MissingWait>();
  registrar.add<CountsCalls>();
  registrar.add<CountsRuns>();
  registrar.add<ThreadSetUp>();
  registrar.add<CountsAtAddress>();
  registrar.add<UninitializedLocal>();
  registrar.add<LastBlock>();
  registrar.add<Address>();
  registrar.add<ReusedAddress>();
  registrar.add<WriteAfterFree>();
  registrar.add<ShortScratch>();
  registrar.add<OversizedBlock>();
  registrar.add<StaleLaunch>();
  registrar.add<SharedRace>();
  registrar.add<DivergentBarrier>();
  registrar.add<UnnamedLane>();
  registrar.add<UnwrittenShared>();
  registrar.add<Overflow>();
  registrar.add<AddOne<2>>();
  registrar.add<AddOne<1>>();
}
