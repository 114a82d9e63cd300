// Products with other element types: cublasGemmEx and cublasGemmStridedBatchedEx.
#include "cublas/routines.h"
#include "cublas/targets.h"

namespace redzone::libraries::cublas {
namespace {

// A row of the table of supported types in "2.9.10. cublasGemmEx".
struct Combination {
  const char* name;
  DType in, out;
  int in_code, out_code;  // cudaDataType
  int compute;            // cublasComputeType_t
  DType scalar;
  std::int64_t granule_elems = 1;  // "lda and ldb must be multiples of 4" (int8)
  // Largest input value and maximum number of terms in a sum: an f16 output stays below 2^11 and a
  // bf16 output below 2^8, where integers are exact.
  std::int64_t largest = 3, most_terms = 16384;
};

constexpr int kCompute32F = 68, kCompute32FastTf32 = 77, kCompute32I = 72;
constexpr int kF32 = 0, kF16 = 2, kI8 = 3, kI32 = 10, kBf16 = 14;
// Integers up to 3 are exact in every input type and in TF32.
const Combination kCombinations[] = {
    {"f16", DType::f16, DType::f16, kF16, kF16, kCompute32F, DType::f32, 1, 3, 112},
    {"f16_f32", DType::f16, DType::f32, kF16, kF32, kCompute32F, DType::f32},
    {"bf16", DType::bf16, DType::bf16, kBf16, kBf16, kCompute32F, DType::f32, 1, 2, 31},
    {"bf16_f32", DType::bf16, DType::f32, kBf16, kF32, kCompute32F, DType::f32},
    {"tf32", DType::f32, DType::f32, kF32, kF32, kCompute32FastTf32, DType::f32},
    {"i8_i32", DType::i8, DType::i32, kI8, kI32, kCompute32I, DType::i32, 4},
};

TensorSpec operand(std::string name, const Combination& c, std::string rows, std::string columns) {
  LayoutRules rules = strided_batch();
  rules.transposed = true;
  rules.granule_elems = c.granule_elems;
  TensorSpec t = tensor(
      std::move(name), c.in, Role::in,
      [rows = std::move(rows), columns = std::move(columns)](const Dims& d) {
        return Shape{get(d, "B"), get(d, rows), get(d, columns)};
      },
      rules);
  // "A and B must be aligned to 4 bytes" (int8).
  t.align_bytes = std::max<std::size_t>(dtype_bytes(c.in), c.granule_elems == 1 ? 1 : 4);
  return t;
}

DimSpec size(const Combination& c, std::string name, std::int64_t most, std::string doc) {
  DimSpec d = dim(std::move(name), c.granule_elems, most, std::move(doc));
  d.multiple_of = c.granule_elems;
  return d;
}

// C_b = alpha op(A_b) op(B_b) + beta C_b. A batch of one uses cublasGemmEx.
void add_combination(Registrar& registrar, const Combination& c, Output output) {
  Routine r;
  r.spec =
      spec_of(std::string("gemm_ex.") + c.name, "C = alpha op(A) op(B) + beta C by cublasGemmEx",
              {alpha(), beta_of(output)}, output);
  r.spec.dims = {dim("B", 1, 4096, "problems; 1: without a batch", 0),
                 size(c, "M", 16384, "rows of C"), size(c, "N", 16384, "columns of C"),
                 size(c, "K", c.most_terms, "columns of op(A)")};
  LayoutRules layouts = strided_batch();
  layouts.granule_elems = c.granule_elems;
  r.spec.tensors = {operand("A", c, "M", "K"), operand("B", c, "K", "N"),
                    tensor(
                        "C", c.out, role_of(output),
                        [](const Dims& d) {
                          return Shape{get(d, "B"), get(d, "N"), get(d, "M")};
                        },
                        layouts)};
  for (auto& t : r.spec.tensors) t.fill = exact(c.largest);
  r.spec.work = [](const Dims& d, const Config&) {
    return kProductWork * as_double(get(d, "B")) * as_double(get(d, "M")) * as_double(get(d, "N")) *
           as_double(get(d, "K"));
  };
  r.run = [c](Context& ctx) {
    BlasCall call(ctx, {' ', c.in});
    constexpr int kDefaultAlgorithm = -1;
    const Stored a = call.stored("A"), b = call.stored("B");
    const Index m = call.dim("M"), n = call.dim("N"), k = call.dim("K"), batch = call.dim("B");
    const void *const alpha = call.scalar("alpha", c.scalar), *const beta =
                                                                  call.scalar("beta", c.scalar);
    if (batch.value == 1)
      return call.invoke_named("cublasGemmEx", a.op, b.op, m, n, k, alpha, a.base, c.in_code, a.ld,
                               b.base, c.in_code, b.ld, beta, call.base("C"), c.out_code,
                               call.pitch("C"), c.compute, kDefaultAlgorithm);
    call.invoke_named("cublasGemmStridedBatchedEx", a.op, b.op, m, n, k, alpha, a.base, c.in_code,
                      a.ld, call.batch_stride("A"), b.base, c.in_code, b.ld, call.batch_stride("B"),
                      beta, call.base("C"), c.out_code, call.pitch("C"), call.batch_stride("C"),
                      batch, c.compute, kDefaultAlgorithm);
  };
  r.row = product_row<double>;
  add(registrar, std::move(r), missing);
}

}  // namespace

void add_mixed(Registrar& registrar) {
  for (const Combination& c : kCombinations)
    for (const Output output : {Output::written, Output::added_to})
      add_combination(registrar, c, output);
}

void add_targets(Registrar& registrar) {
  add_level2(registrar);
  add_level3(registrar);
  add_batched(registrar);
  add_mixed(registrar);
}

}  // namespace redzone::libraries::cublas
