// puzzle: stale_page
// bug: only the entries of new blocks are written to the page table, though the pages of the others
//      have moved with the number of pages in use
// kin: block tables of paged KV caches that outlive a compaction of the pool
// expect: history y
// minimal: 2 calls; N=1 P=1; N=1 P=2
// minimal: 2 calls; N=1 P=2; N=1 P=1
#include <algorithm>

#include "kit.h"
#include "puzzles.h"

namespace redzone::puzzles {
namespace stale_page {

constexpr std::int64_t kMostBlocks = 64, kPool = 128;

// Pages are given out from the last one in use.
__host__ __device__ constexpr std::int64_t page_of(std::int64_t block, std::int64_t pages) {
  return pages - 1 - block % pages;
}

__global__ void assign_pages(std::int64_t* table, std::int64_t first, std::int64_t blocks,
                             std::int64_t pages) {
  const std::int64_t b = first + global_thread();
  if (b < blocks) table[b] = page_of(b, pages);
}

__global__ void gather(const float* pool, const std::int64_t* table, float* y,
                       std::int64_t blocks) {
  const std::int64_t b = global_thread();
  if (b < blocks) y[b] = pool[table[b]];
}

template <bool kFixed>
struct StalePage : Target {
  static TargetSpec spec() {
    auto s = pair_spec<kFixed>("stale_page", "Gathers the blocks of a sequence from a pool.");
    s.dims = {DimSpec::of("N", 1, kMostBlocks, "blocks"),
              DimSpec::of("P", 1, kPool, "pages in use")};
    // No two pages are alike.
    s.tensors = {tensor("pool", DType::f32, Role::in, [](const Dims&) { return Shape{kPool}; }),
                 tensor("y", DType::f32, Role::out, shape_of({"N"}))};
    return s;
  }

  void run(Context& ctx) override {
    const std::int64_t blocks = ctx.dim("N"), pages = ctx.dim("P");
    auto* table =
        static_cast<std::int64_t*>(ctx.workspace("table", kMostBlocks * sizeof(std::int64_t)));
    if (ctx.ended()) return;
    const std::int64_t first = kFixed ? 0 : std::min(known_, blocks);
    if (first < blocks)
      launch(ctx, "assign_pages", assign_pages, one_thread_each(blocks - first), table, first,
             blocks, pages);
    known_ = std::max(known_, blocks);
    launch(ctx, "gather", gather, one_thread_each(blocks), ctx.tensor("pool").data<float>(), table,
           ctx.tensor("y").data<float>(), blocks);
  }

  void reference(ReferenceCall& call) const override {
    const auto pool = call.input("pool");
    const auto y = call.output("y");
    for (std::size_t b = 0; b < y.size(); ++b)
      y[b] = pool[static_cast<std::size_t>(page_of(static_cast<std::int64_t>(b), call.dim("P")))];
  }

 private:
  std::int64_t known_ = 0;  // entries of the table
};

}  // namespace stale_page

void add_stale_page(Registrar& registrar) {
  add_pair<stale_page::StalePage>(registrar);
}

}  // namespace redzone::puzzles
