// puzzle: kept_by_address
// bug: what was packed of a tensor is kept by the address of the tensor, where a later call has
//      another tensor, which is to be packed in another way
// kin: weights that are packed once for each data_ptr(), under an allocator that uses memory again
// expect: address y
// minimal: 2 calls, reused; M=1 N=1; M=2 N=1
// minimal: 2 calls, reused; M=2 N=1; M=1 N=1
#include <map>

#include "kit.h"
#include "puzzles.h"

namespace redzone::puzzles {
namespace kept_by_address {

constexpr std::int64_t kMostElements = 512;
constexpr std::size_t kMostKept = 8;

__global__ void pack(const float* x, float* packed, std::int64_t n, float factor) {
  const std::int64_t i = global_thread();
  if (i < n) packed[i] = x[i] * factor;
}

__global__ void unpack(const float* packed, float* y, std::int64_t n) {
  const std::int64_t i = global_thread();
  if (i < n) y[i] = packed[i];
}

template <bool kFixed>
struct KeptByAddress : Target {
  static TargetSpec spec() {
    auto s = pair_spec<kFixed>("kept_by_address", "y = M x, by a packed copy of x.");
    s.dims = {DimSpec::of("M", 1, 64, "factor"),
              DimSpec::of("N", 1, kMostElements, "elements", kBlock)};
    s.tensors = {tensor("x", DType::f32, Role::in, shape_of({"N"}), integers(1, 9)),
                 tensor("y", DType::f32, Role::out, shape_of({"N"}))};
    return s;
  }

  void run(Context& ctx) override {
    const std::int64_t n = ctx.dim("N");
    const auto* x = ctx.tensor("x").data<float>();
    auto* packed =
        static_cast<float*>(ctx.workspace("packed", kMostKept * kMostElements * sizeof(float)));
    if (ctx.ended()) return;
    if (kFixed || slots_.size() == kMostKept) slots_.clear();
    const auto [slot, fresh] = slots_.try_emplace({x, n}, slots_.size());
    packed += static_cast<std::int64_t>(slot->second) * kMostElements;
    if (fresh)
      launch(ctx, "pack", pack, one_thread_each(n), x, packed, n, static_cast<float>(ctx.dim("M")));
    launch(ctx, "unpack", unpack, one_thread_each(n), packed, ctx.tensor("y").data<float>(), n);
  }

  void reference(ReferenceCall& call) const override {
    const auto x = call.input("x");
    const auto y = call.output("y");
    for (std::size_t i = 0; i < x.size(); ++i) y[i] = x[i] * static_cast<double>(call.dim("M"));
  }

 private:
  std::map<std::pair<const float*, std::int64_t>, std::size_t> slots_;
};

}  // namespace kept_by_address

void add_kept_by_address(Registrar& registrar) {
  add_pair<kept_by_address::KeptByAddress>(registrar);
}

}  // namespace redzone::puzzles
