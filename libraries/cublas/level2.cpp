// Level 2: a matrix and vectors ("2.7. cuBLAS Level-2 Function Reference"). Dims begin at 1,
// because the documentation does not specify the output for a matrix without elements.
#include "cublas/routines.h"

namespace redzone::libraries::cublas {
namespace {

constexpr std::int64_t kMostRows = 32768;  // limit for level 2

DimSpec rows(std::string name, std::string doc) {
  return dim(std::move(name), 1, kMostRows, std::move(doc), 128);
}

std::function<double(const Dims&, const Config&)> square_work() {
  return [](const Dims& d, const Config&) {
    return kProductWork * as_double(get(d, "N")) * as_double(get(d, "N"));
  };
}

// y = alpha op(A) x + beta y.
template <class V>
void add_gemv(Registrar& registrar, const Type& type, Output output) {
  Routine r;
  r.spec = spec_of(type, "gemv", "y = alpha op(A) x + beta y", {alpha(), beta_of(output)}, output);
  r.spec.dims = {rows("M", "elements of y"), rows("K", "elements of x")};
  r.spec.tensors = {either_major("A", type.dtype, "M", "K"), vector("x", type.dtype, Role::in, "K"),
                    vector("y", type.dtype, role_of(output), "M")};
  r.spec.work = [](const Dims& d, const Config&) {
    return kProductWork * as_double(get(d, "M")) * as_double(get(d, "K"));
  };
  r.run = [type](Context& ctx) {
    BlasCall call(ctx, type);
    const Stored a = call.stored("A");
    const bool plain = a.op == op_of("N");
    call.invoke("gemv_v2", a.op, plain ? call.dim("M") : call.dim("K"),
                plain ? call.dim("K") : call.dim("M"), call.scalar("alpha"), a.base, a.ld,
                call.base("x"), call.pitch("x"), call.scalar("beta"), call.base("y"),
                call.pitch("y"));
  };
  r.row = [](InputRows& in, std::string_view, std::int64_t row, std::span<double> values) {
    PlainMatrix<V> a(in.tensor("A")), x(in.tensor("x"));
    const V sum = dot<V>(a, row, x, 0, in.dim("K"));
    set_element<V>(
        values, 0,
        as_double(in.knob("alpha")) * sum + as_double(in.knob("beta")) * element<V>(values, 0));
  };
  add(registrar, std::move(r), missing);
}

// y = alpha A x + beta y for a symmetric or Hermitian A: full, band or packed.
struct SymmetricProduct {
  const char* routine;
  Form form;
  Storage storage;
};

TensorSpec special_matrix(const Type& type, Storage storage) {
  const auto shape = [storage](const Dims& d) {
    const std::int64_t n = get(d, "N");
    if (storage == Storage::packed) return Shape{1, n * (n + 1) / 2};
    return Shape{n, storage == Storage::full ? n : get(d, "B") + 1};
  };
  // A packed matrix has no leading dimension.
  LayoutRules rules = leading_dimension();
  rules.row_padding = storage != Storage::packed;
  return tensor("A", type.dtype, Role::in, shape, rules);
}

std::vector<DimSpec> special_dims(Storage storage) {
  std::vector<DimSpec> dims = {rows("N", "rows and columns of A")};
  if (storage == Storage::band) dims.push_back(dim("B", 0, 128, "diagonals beside the main one"));
  return dims;
}

MatrixRules special_rules(InputRows& in, Form form, Storage storage) {
  MatrixRules rules = rules_of(in.config(), form, storage);
  rules.n = in.dim("N");
  if (storage == Storage::band) rules.below = rules.above = in.dim("B");
  return rules;
}

template <class V>
void add_symmetric(Registrar& registrar, const Type& type, const SymmetricProduct& p,
                   Output output) {
  Routine r;
  r.spec = spec_of(type, p.routine, "y = alpha A x + beta y", {uplo(), alpha(), beta_of(output)},
                   output);
  r.spec.dims = special_dims(p.storage);
  r.spec.tensors = {special_matrix(type, p.storage), vector("x", type.dtype, Role::in, "N"),
                    vector("y", type.dtype, role_of(output), "N")};
  r.spec.work = square_work();
  r.run = [type, p](Context& ctx) {
    BlasCall call(ctx, type);
    const std::string name = std::string(p.routine) + "_v2";
    const void *const a = call.base("A"), *const x = call.base("x");
    void* const y = call.base("y");
    const Index n = call.dim("N"), incx = call.pitch("x"), incy = call.pitch("y");
    const void *const alpha = call.scalar("alpha"), *const beta = call.scalar("beta");
    switch (p.storage) {
      case Storage::full:
        return call.invoke(name, call.uplo(), n, alpha, a, call.pitch("A"), x, incx, beta, y, incy);
      case Storage::band:
        return call.invoke(name, call.uplo(), n, call.dim("B"), alpha, a, call.pitch("A"), x, incx,
                           beta, y, incy);
      case Storage::packed:
        return call.invoke(name, call.uplo(), n, alpha, a, x, incx, beta, y, incy);
    }
  };
  r.row = [p](InputRows& in, std::string_view, std::int64_t row, std::span<double> values) {
    StoredMatrix<V> a(in.tensor("A"), special_rules(in, p.form, p.storage));
    PlainMatrix<V> x(in.tensor("x"));
    const V sum = dot<V>(a, row, x, 0, in.dim("N"));
    set_element<V>(
        values, 0,
        as_double(in.knob("alpha")) * sum + as_double(in.knob("beta")) * element<V>(values, 0));
  };
  add(registrar, std::move(r), missing);
}

// x = op(A) x for a triangular A: full, band or packed.
struct TriangularProduct {
  const char* routine;
  Storage storage;
};

template <class V>
void add_triangular(Registrar& registrar, const Type& type, const TriangularProduct& p) {
  Routine r;
  r.spec = spec_of(type, p.routine, "x = op(A) x", {uplo(), trans(type), diag()});
  r.spec.dims = special_dims(p.storage);
  r.spec.tensors = {special_matrix(type, p.storage), vector("x", type.dtype, Role::inout, "N")};
  r.spec.work = square_work();
  r.run = [type, p](Context& ctx) {
    BlasCall call(ctx, type);
    const std::string name = std::string(p.routine) + "_v2";
    const int uplo = call.uplo(), op = call.op("trans"), diag = call.diag();
    const void* const a = call.base("A");
    void* const x = call.base("x");
    const Index n = call.dim("N"), incx = call.pitch("x");
    switch (p.storage) {
      case Storage::full:
        return call.invoke(name, uplo, op, diag, n, a, call.pitch("A"), x, incx);
      case Storage::band:
        return call.invoke(name, uplo, op, diag, n, call.dim("B"), a, call.pitch("A"), x, incx);
      case Storage::packed:
        return call.invoke(name, uplo, op, diag, n, a, x, incx);
    }
  };
  r.row = [p](InputRows& in, std::string_view, std::int64_t row, std::span<double> values) {
    StoredMatrix<V> a(in.tensor("A"), special_rules(in, Form::triangular, p.storage));
    PlainMatrix<V> x(in.tensor("x"));
    set_element<V>(values, 0, dot<V>(a, row, x, 0, in.dim("N")));
  };
  add(registrar, std::move(r), missing);
}

// A = alpha x op(y) + A, for all of A or for one of its triangles. The other triangle is not
// referenced.
struct RankUpdate {
  const char* routine;
  bool triangle = false;    // syr, her: y is x
  bool conjugated = false;  // the second factor is conjugated
  bool two = false;         // syr2: x y^T + y x^T
};

template <class V>
void add_rank_update(Registrar& registrar, const Type& type, const RankUpdate& p) {
  const bool has_y = !p.triangle || p.two;
  Routine r;
  std::vector<KnobSpec> knobs = {alpha()};
  if (p.triangle) knobs.push_back(uplo());
  r.spec = spec_of(type, p.routine, "A = alpha x op(y) + A", knobs);
  r.spec.dims = {rows("N", "columns of A")};
  const std::string x_size = p.triangle ? "N" : "M";
  if (!p.triangle) r.spec.dims.push_back(rows("M", "rows of A"));
  r.spec.tensors = {vector("x", type.dtype, Role::in, x_size),
                    matrix("A", type.dtype, Role::inout, x_size, "N")};
  if (has_y) r.spec.tensors.push_back(vector("y", type.dtype, Role::in, "N"));
  r.spec.work = [x_size](const Dims& d, const Config&) {
    return kProductWork * as_double(get(d, "N")) * as_double(get(d, x_size));
  };
  r.run = [type, p, has_y, x_size](Context& ctx) {
    BlasCall call(ctx, type);
    const std::string name = std::string(p.routine) + "_v2";
    const Index m = call.dim(x_size), n = call.dim("N");
    const void* const alpha = call.scalar("alpha");
    const void* const x = call.base("x");
    void* const a = call.base("A");
    if (!p.triangle)
      return call.invoke(name, m, n, alpha, x, call.pitch("x"), call.base("y"), call.pitch("y"), a,
                         call.pitch("A"));
    if (has_y)
      return call.invoke(name, call.uplo(), n, alpha, x, call.pitch("x"), call.base("y"),
                         call.pitch("y"), a, call.pitch("A"));
    call.invoke(name, call.uplo(), n, alpha, x, call.pitch("x"), a, call.pitch("A"));
  };
  r.row = [p, has_y, x_size](InputRows& in, std::string_view, std::int64_t column,
                             std::span<double> values) {
    InputTensor x = in.tensor("x");
    InputTensor y = in.tensor(has_y ? "y" : "x");
    const double alpha = as_double(in.knob("alpha"));
    const bool lower = rules_of(in.config(), Form::symmetric).lower;
    const auto second = [&p](const V& v) { return p.conjugated ? conjugate(v) : v; };
    for (std::int64_t i = 0; i < in.dim(x_size); ++i) {
      if (p.triangle && (lower ? i < column : i > column)) continue;
      V value = x.at<V>(i, 0) * second(y.at<V>(column, 0));
      if (p.two) value += y.at<V>(i, 0) * second(x.at<V>(column, 0));
      const auto at = static_cast<std::size_t>(i);
      set_element<V>(values, at, element<V>(values, at) + alpha * value);
    }
  };
  add(registrar, std::move(r), missing);
}

}  // namespace

void add_level2(Registrar& registrar) {
  for_all_types([&]<class V>(const Type& type) {
    for (const Output output : {Output::written, Output::added_to}) {
      add_gemv<V>(registrar, type, output);
      if constexpr (std::is_same_v<V, double>) {
        add_symmetric<V>(registrar, type, {"sbmv", Form::symmetric, Storage::band}, output);
        add_symmetric<V>(registrar, type, {"spmv", Form::symmetric, Storage::packed}, output);
      } else {
        add_symmetric<V>(registrar, type, {"hemv", Form::hermitian, Storage::full}, output);
        add_symmetric<V>(registrar, type, {"hbmv", Form::hermitian, Storage::band}, output);
        add_symmetric<V>(registrar, type, {"hpmv", Form::hermitian, Storage::packed}, output);
      }
      add_symmetric<V>(registrar, type, {"symv", Form::symmetric, Storage::full}, output);
    }
    add_triangular<V>(registrar, type, {"trmv", Storage::full});
    add_triangular<V>(registrar, type, {"tbmv", Storage::band});
    add_triangular<V>(registrar, type, {"tpmv", Storage::packed});
    add_rank_update<V>(registrar, type, {.routine = "syr", .triangle = true});
    add_rank_update<V>(registrar, type, {.routine = "syr2", .triangle = true, .two = true});
    if constexpr (std::is_same_v<V, double>) {
      add_rank_update<V>(registrar, type, {.routine = "ger"});
    } else {
      add_rank_update<V>(registrar, type, {.routine = "geru"});
      add_rank_update<V>(registrar, type, {.routine = "gerc", .conjugated = true});
    }
  });
}

}  // namespace redzone::libraries::cublas
