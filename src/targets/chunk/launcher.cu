#include "launcher.h"

#include "chunk_kernels_text.h"

namespace redzone::chunk {

ChunkCountClass ChunkCountClass::of(std::int64_t n, bool specialize) {
  if (specialize || n == 1) return {Kind::exact, n};
  return {n % 16 == 0 ? Kind::multiple_of_16 : Kind::any, 0};
}

std::vector<std::string> ChunkCountClass::options() const {
  switch (kind) {
    case Kind::exact:
      return {"-DREDZONE_CHUNK_N=" + std::to_string(value)};
    case Kind::multiple_of_16:
      return {"-DREDZONE_CHUNK_N_MULTIPLE=16"};
    case Kind::any:
      break;
  }
  return {};
}

std::string expression(const Family& family, const VariantKey& key) {
  return std::string("redzone_chunk::") + family.function + "<" +
         (key.bf16 ? "redzone::bf16" : "float") + ", " + std::to_string(key.rdim) + ", " +
         std::to_string(key.block_v) + ", " + std::to_string(key.warps) + ">";
}

std::string_view kernel_source() {
  return chunk_kernels_text;
}

KernelRef Launcher::find(Context& ctx, const Family& family, const Problem& problem) {
  const auto count = ChunkCountClass::of(problem.sizes.N, problem.specialize_n);
  const Key key{family.function, problem.key, count};
  if (auto it = variants_.find(key); it != variants_.end()) return it->second;
  const KernelRef ref = ctx.variant({family.name, kernel_source(), expression(family, problem.key),
                                     count.options(), family.host_instance(problem.key)});
  if (!ctx.ended()) variants_.emplace(key, ref);
  return ref;
}

template <bool PREFIX>
void Launcher::sum_gates(Context& ctx, const Problem& problem, float* weights, float* totals) {
  VariantRequest request{"chunk_gates",
                         kernel_source(),
                         PREFIX ? "redzone_chunk::gates<true>" : "redzone_chunk::gates<false>",
                         {},
                         {}};
#ifndef __CUDACC__
  request.host = kernel_ref(request.name, &redzone_chunk::gates<PREFIX>);
#endif
  const KernelRef kernel = ctx.variant(request);
  if (ctx.ended()) return;
  launch_exact(ctx, kernel, problem.gates_launch(), problem.sizes,
               strided<const float>(ctx.tensor("g")), weights, totals);
}

template void Launcher::sum_gates<true>(Context&, const Problem&, float*, float*);
template void Launcher::sum_gates<false>(Context&, const Problem&, float*, float*);

}  // namespace redzone::chunk
