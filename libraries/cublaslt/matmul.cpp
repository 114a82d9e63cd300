// cublasLtMatmul with the epilogues, leading dimensions and batch strides of
// "3.4.17. cublasLtMatmul()" of the cuBLAS documentation.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "common/elements.h"
#include "common/product.h"
#include "common/routine.h"
#include "common/spec_parts.h"
#include "cublaslt/descriptors.h"
#include "cublaslt/matmul.h"

namespace redzone::libraries::cublaslt {
namespace {

constexpr std::size_t kWorkspace = std::size_t{32} << 20;

// A row of the table of supported types: the type of A and B, and the type of C, D and the bias.
struct Combination {
  const char* name;
  DType in, out;
  int in_code, out_code;           // cudaDataType
  int compute, scale;              // cublasComputeType_t and the type of alpha and beta
  std::int64_t granule_elems = 1;  // granularity of dims and pitches
  // Largest input value and maximum number of terms in a sum: an f16 output stays below 2^11 and a
  // bf16 output below 2^8, where integers are exact.
  std::int64_t largest = 3, most_terms = 8192;
};

constexpr int kCompute32F = 68, kCompute64F = 70, kCompute32FastTf32 = 77, kCompute32I = 72;
constexpr int kF32 = 0, kF64 = 1, kF16 = 2, kI8 = 3, kI32 = 10, kBf16 = 14;
const Combination kCombinations[] = {
    {"f32", DType::f32, DType::f32, kF32, kF32, kCompute32F, kF32},
    {"tf32", DType::f32, DType::f32, kF32, kF32, kCompute32FastTf32, kF32},
    {"f64", DType::f64, DType::f64, kF64, kF64, kCompute64F, kF64},
    {"f16", DType::f16, DType::f16, kF16, kF16, kCompute32F, kF32, 1, 3, 112},
    {"bf16", DType::bf16, DType::bf16, kBf16, kBf16, kCompute32F, kF32, 1, 2, 30},
    {"f16_f32", DType::f16, DType::f32, kF16, kF32, kCompute32F, kF32},
    {"bf16_f32", DType::bf16, DType::f32, kBf16, kF32, kCompute32F, kF32},
    // "Dimensions m and k must be multiples of 4" for the regular orders of int8.
    {"i8_i32", DType::i8, DType::i32, kI8, kI32, kCompute32I, kI32, 4},
};

// Values of cublasLtEpilogue_t.
constexpr int kPlain = 1, kRelu = 2, kBiasEpilogue = 4;

struct Scalars {
  alignas(8) unsigned char alpha[8] = {}, beta[8] = {};
};

template <class T>
Scalars scalars_as(std::int64_t alpha, std::int64_t beta) {
  Scalars s;
  const T a = static_cast<T>(alpha), b = static_cast<T>(beta);
  std::memcpy(s.alpha, &a, sizeof a);
  std::memcpy(s.beta, &b, sizeof b);
  return s;
}

Scalars scalars_of(const Combination& c, std::int64_t alpha, std::int64_t beta) {
  switch (c.scale) {
    case kF64:
      return scalars_as<double>(alpha, beta);
    case kI32:
      return scalars_as<std::int32_t>(alpha, beta);
    default:
      return scalars_as<float>(alpha, beta);
  }
}

// The largest power of two up to 256 that divides the address.
std::uint32_t alignment_of(const void* p) {
  std::uint32_t alignment = 256;
  while (reinterpret_cast<std::uintptr_t>(p) % alignment != 0) alignment /= 2;
  return alignment;
}

// The layout of one matrix of a batch as it is stored.
Descriptor layout_of(const TensorArg& t, int type) {
  const ColumnMajor matrix = column_major(t);
  const auto rows = static_cast<std::uint64_t>(t.shape[matrix.transposed ? 2 : 1]);
  const auto columns = static_cast<std::uint64_t>(t.shape[matrix.transposed ? 1 : 2]);
  return Descriptor("MatrixLayout", type, rows, columns, matrix.ld);
}

void set_batch(Descriptor& layout, const TensorArg& t) {
  layout.set(kBatchCount, static_cast<std::int32_t>(t.shape[0]));
  layout.set(kBatchStride, t.strides[0]);
}

// One call of D_b = act(alpha A_b B_b + beta C_b + bias).
class Product {
 public:
  Product(Context& ctx, const Combination& c)
      : ctx_(ctx),
        c_(c),
        a_(ctx.tensor("A")),
        b_(ctx.tensor("B")),
        c_in_(ctx.tensor("C")),
        d_(ctx.tensor("D")),
        product_("MatmulDesc", c.compute, c.scale),
        layout_a_(layout_of(a_, c.in_code)),
        layout_b_(layout_of(b_, c.in_code)),
        layout_c_(layout_of(c_in_, c.out_code)),
        layout_d_(layout_of(d_, c.out_code)),
        preference_("MatmulPreference") {}

  void run() {
    describe();
    void* const workspace = ctx_.workspace("cublaslt", kWorkspace);
    if (ctx_.ended()) return;
    preference_.set(kWorkspaceBytes, kWorkspace);
    const void* const bases[] = {a_.base, b_.base, c_in_.base, d_.base};
    for (int i = 0; i < 4; ++i) preference_.set(kAlignmentOfA + i, alignment_of(bases[i]));
    for (const Descriptor* d :
         {&product_, &layout_a_, &layout_b_, &layout_c_, &layout_d_, &preference_})
      if (d->status() != 0) return report("a descriptor", d->status());
    Heuristic found = {};
    int count = 0;
    const int status =
        library()
            .function<int(void*, void*, void*, void*, void*, void*, void*, int, Heuristic*, int*)>(
                "cublasLtMatmulAlgoGetHeuristic")(
                library().handle(), product_.get(), layout_a_.get(), layout_b_.get(),
                layout_c_.get(), layout_d_.get(), preference_.get(), 1, &found, &count);
    if (status != 0 || count == 0) return report("cublasLtMatmulAlgoGetHeuristic", status);
    const Scalars s = scalars_of(c_, ctx_.knob("alpha"), ctx_.knob("beta"));
    report("cublasLtMatmul",
           library()
               .function<int(void*, void*, const void*, const void*, void*, const void*, void*,
                             const void*, const void*, void*, void*, void*, const void*, void*,
                             std::size_t, void*)>("cublasLtMatmul")(
                   library().handle(), product_.get(), s.alpha, a_.base, layout_a_.get(), b_.base,
                   layout_b_.get(), s.beta, c_in_.base, layout_c_.get(), d_.base, layout_d_.get(),
                   found.algorithm, workspace, kWorkspace, ctx_.stream()));
  }

 private:
  void describe() {
    product_.set(kTransA, static_cast<std::int32_t>(column_major(a_).transposed ? 1 : 0));
    product_.set(kTransB, static_cast<std::int32_t>(column_major(b_).transposed ? 1 : 0));
    const bool bias = ctx_.knob("bias") != 0, relu = ctx_.knob("relu") != 0;
    const int epilogue = (bias ? kBiasEpilogue : 0) | (relu ? kRelu : 0);
    product_.set(kEpilogue, static_cast<std::uint32_t>(epilogue == 0 ? kPlain : epilogue));
    const auto bias_tensor = ctx_.tensor("bias");
    if (bias) {
      product_.set(kBias, bias_tensor.base);
      product_.set(kBiasType, c_.out_code);
    }
    if (d_.shape[0] == 1) return;
    if (bias) product_.set(kBiasBatchStride, bias_tensor.strides[0]);
    set_batch(layout_a_, a_);
    set_batch(layout_b_, b_);
    set_batch(layout_c_, c_in_);
    set_batch(layout_d_, d_);
  }

  void report(const std::string& step, int status) {
    constexpr int kSuccess = 0, kNotSupported = 15;
    if (status == kSuccess && step == "cublasLtMatmul") return;
    // The heuristic finds no algorithm if a combination is not supported.
    if (status == kSuccess || status == kNotSupported)
      return ctx_.unsupported(step + ": not supported");
    ctx_.fail("cublaslt", step + ": status " + std::to_string(status));
  }

  Context& ctx_;
  const Combination& c_;
  TensorArg a_, b_, c_in_, d_;
  Descriptor product_, layout_a_, layout_b_, layout_c_, layout_d_, preference_;
};

TensorSpec batch_of(std::string name, const Combination& c, Role role, std::string rows,
                    std::string columns) {
  LayoutRules rules = strided_batch();
  rules.granule_elems = c.granule_elems;
  rules.transposed = role == Role::in && name != "C";
  const DType dtype = name == "A" || name == "B" ? c.in : c.out;
  TensorSpec t = tensor(
      std::move(name), dtype, role,
      [rows = std::move(rows), columns = std::move(columns)](const Dims& d) {
        return Shape{get(d, "BATCH"), get(d, rows), get(d, columns)};
      },
      rules);
  // "Pointers must be aligned to 4 bytes" for int8.
  t.align_bytes = std::max<std::size_t>(dtype_bytes(dtype), c.granule_elems == 1 ? 1 : 4);
  return t;
}

DimSpec size(const Combination& c, std::string name, std::string doc, std::int64_t most = 8192) {
  DimSpec d = dim(std::move(name), c.granule_elems, most, std::move(doc));
  d.multiple_of = c.granule_elems;
  return d;
}

void add_matmul(Registrar& registrar, const Combination& c) {
  Routine r;
  r.spec.name = std::string("cublaslt.matmul.") + c.name;
  r.spec.doc = "D = act(alpha A B + beta C + bias)";
  r.spec.dims = {dim("BATCH", 1, 4096, "products", 0), size(c, "M", "rows of D"),
                 size(c, "N", "columns of D"), size(c, "K", "columns of A", c.most_terms)};
  // C and D have the shape {batch, columns, rows}: column-major.
  r.spec.tensors = {batch_of("A", c, Role::in, "M", "K"), batch_of("B", c, Role::in, "K", "N"),
                    batch_of("C", c, Role::in, "N", "M"), batch_of("D", c, Role::out, "N", "M"),
                    tensor(
                        "bias", c.out, Role::in,
                        [](const Dims& d) {
                          return Shape{get(d, "BATCH"), get(d, "M")};
                        },
                        leading_dimension())};
  r.spec.knobs = {
      numbers("alpha", {1, 2}, "factor of the product"),
      numbers("beta", {0, 1, -4}, "factor of C; with the last one results are negative"),
      numbers("bias", {0, 1}, "1: one number is added to each row of D"),
      numbers("relu", {0, 1}, "1: negative results become 0")};
  for (auto& t : r.spec.tensors) t.fill = exact(c.largest);
  r.spec.tolerance = {0, 0};
  r.spec.has_reference = true;
  r.spec.sampled_rows = kSampledRows;
  r.spec.work = [](const Dims& d, const Config&) {
    return kProductWork * as_double(get(d, "BATCH")) * as_double(get(d, "M")) *
           as_double(get(d, "N")) * as_double(get(d, "K"));
  };
  r.run = [&c](Context& ctx) { Product(ctx, c).run(); };
  r.row = [](InputRows& in, std::string_view, std::int64_t row, std::span<double> values) {
    const auto sums = product_column<double>(in, row);
    InputTensor old = in.tensor("C"), bias = in.tensor("bias");
    const double alpha = as_double(in.knob("alpha")), beta = as_double(in.knob("beta"));
    for (std::size_t i = 0; i < sums.size(); ++i) {
      const auto column = static_cast<std::int64_t>(i);
      double value = alpha * sums[i] + beta * old.at<double>(row, column);
      if (in.knob("bias") != 0) value += bias.at<double>(row / in.dim("N"), column);
      values[i] = in.knob("relu") != 0 ? std::max(value, 0.0) : value;
    }
  };
  add(registrar, std::move(r), [] { return library().problem(); });
}

}  // namespace

void add_matmuls(Registrar& registrar) {
  for (const Combination& c : kCombinations) add_matmul(registrar, c);
}

}  // namespace redzone::libraries::cublaslt
