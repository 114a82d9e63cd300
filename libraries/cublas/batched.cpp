// Batches of products: `StridedBatched`, whose problems are a stride apart, and `Batched`, whose
// problems are given by arrays of pointers in device memory.
#include "common/pointer_array.h"
#include "cublas/routines.h"

namespace redzone::libraries::cublas {
namespace {

LayoutRules batch_layouts(bool either) {
  LayoutRules rules = strided_batch();
  rules.transposed = either;
  return rules;
}

TensorSpec batch_of(std::string name, const Type& type, Role role, std::string rows,
                    std::string columns, bool either) {
  return tensor(
      std::move(name), type.dtype, role,
      [rows = std::move(rows), columns = std::move(columns)](const Dims& d) {
        return Shape{get(d, "B"), get(d, rows), get(d, columns)};
      },
      batch_layouts(either));
}

// C_b = alpha op(A_b) op(B_b) + beta C_b. The tensor C has the shape {batch, columns, rows}.
template <class V>
void add_gemm_batch(Registrar& registrar, const Type& type, bool strided, Output output) {
  Routine r;
  r.spec = spec_of(type, strided ? "gemm_strided_batched" : "gemm_batched",
                   "C_b = alpha op(A_b) op(B_b) + beta C_b", {alpha(), beta_of(output)}, output);
  r.spec.dims = {dim("B", 0, 70000, "problems", 0), dim("M", 1, 4096, "rows of C"),
                 dim("N", 1, 4096, "columns of C"), dim("K", 1, 4096, "columns of op(A)")};
  r.spec.tensors = {batch_of("A", type, Role::in, "M", "K", true),
                    batch_of("B", type, Role::in, "K", "N", true),
                    batch_of("C", type, role_of(output), "N", "M", false)};
  r.spec.work = [](const Dims& d, const Config&) {
    return kProductWork * as_double(get(d, "B")) * as_double(get(d, "M")) * as_double(get(d, "N")) *
           as_double(get(d, "K"));
  };
  r.run = [type, strided](Context& ctx) {
    BlasCall call(ctx, type);
    const Stored a = call.stored("A"), b = call.stored("B");
    const Index m = call.dim("M"), n = call.dim("N"), k = call.dim("K"), batch = call.dim("B");
    const void *const alpha = call.scalar("alpha"), *const beta = call.scalar("beta");
    if (strided)
      return call.invoke("gemmStridedBatched", a.op, b.op, m, n, k, alpha, a.base, a.ld,
                         call.batch_stride("A"), b.base, b.ld, call.batch_stride("B"), beta,
                         call.base("C"), call.pitch("C"), call.batch_stride("C"), batch);
    void **const as = pointer_array(ctx, "A"), **const bs = pointer_array(ctx, "B"),
                 **const cs = pointer_array(ctx, "C");
    call.invoke("gemmBatched", a.op, b.op, m, n, k, alpha, as, a.ld, bs, b.ld, beta, cs,
                call.pitch("C"), batch);
  };
  r.row = product_row<V>;
  add(registrar, std::move(r), missing);
}

// y_b = alpha op(A_b) x_b + beta y_b. Vectors have the shape {batch, n, 1}.
template <class V>
void add_gemv_batch(Registrar& registrar, const Type& type, bool strided, Output output) {
  const auto batch_vector = [&type](std::string name, Role role, std::string size) {
    return tensor(
        std::move(name), type.dtype, role,
        [size = std::move(size)](const Dims& d) {
          return Shape{get(d, "B"), get(d, size), 1};
        },
        batch_layouts(false));
  };
  Routine r;
  r.spec = spec_of(type, strided ? "gemv_strided_batched" : "gemv_batched",
                   "y_b = alpha op(A_b) x_b + beta y_b", {alpha(), beta_of(output)}, output);
  r.spec.dims = {dim("B", 0, 70000, "problems", 0), dim("M", 1, 4096, "elements of y_b"),
                 dim("K", 1, 4096, "elements of x_b")};
  r.spec.tensors = {batch_of("A", type, Role::in, "M", "K", true), batch_vector("x", Role::in, "K"),
                    batch_vector("y", role_of(output), "M")};
  r.spec.work = [](const Dims& d, const Config&) {
    return kProductWork * as_double(get(d, "B")) * as_double(get(d, "M")) * as_double(get(d, "K"));
  };
  r.run = [type, strided](Context& ctx) {
    BlasCall call(ctx, type);
    const Stored a = call.stored("A");
    const bool plain = a.op == op_of("N");
    const Index m = call.dim(plain ? "M" : "K"), n = call.dim(plain ? "K" : "M");
    const Index incx = call.pitch("x"), incy = call.pitch("y"), batch = call.dim("B");
    const void *const alpha = call.scalar("alpha"), *const beta = call.scalar("beta");
    if (strided)
      return call.invoke("gemvStridedBatched", a.op, m, n, alpha, a.base, a.ld,
                         call.batch_stride("A"), call.base("x"), incx, call.batch_stride("x"), beta,
                         call.base("y"), incy, call.batch_stride("y"), batch);
    void **const as = pointer_array(ctx, "A"), **const xs = pointer_array(ctx, "x"),
                 **const ys = pointer_array(ctx, "y");
    call.invoke("gemvBatched", a.op, m, n, alpha, as, a.ld, xs, incx, beta, ys, incy, batch);
  };
  r.row = [](InputRows& in, std::string_view, std::int64_t row, std::span<double> values) {
    const std::int64_t m = in.dim("M"), terms = in.dim("K"), batch = row / m;
    InputTensor a = in.tensor("A"), x = in.tensor("x");
    V sum(0);
    for (std::int64_t k = 0; k < terms; ++k) sum += a.at<V>(row, k) * x.at<V>(batch * terms + k, 0);
    set_element<V>(
        values, 0,
        as_double(in.knob("alpha")) * sum + as_double(in.knob("beta")) * element<V>(values, 0));
  };
  add(registrar, std::move(r), missing);
}

}  // namespace

void add_batched(Registrar& registrar) {
  for_all_types([&]<class V>(const Type& type) {
    for (const bool strided : {true, false})
      for (const Output output : {Output::written, Output::added_to}) {
        add_gemm_batch<V>(registrar, type, strided, output);
        add_gemv_batch<V>(registrar, type, strided, output);
      }
  });
}

}  // namespace redzone::libraries::cublas
