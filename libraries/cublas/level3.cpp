// Level 3: products of matrices ("2.8. cuBLAS Level-3 Function Reference", and geam and dgmm of
// "2.9. BLAS-like Extension"). Row j of an output is column j of the column-major matrix.
#include "cublas/routines.h"

namespace redzone::libraries::cublas {
namespace {

constexpr std::int64_t kMostSize = 16384;

// 0 is allowed, because the parameters m, n and k are errors only "if m, n, k < 0".
DimSpec size(std::string name, std::string doc, std::int64_t most = kMostSize) {
  return dim(std::move(name), 0, most, std::move(doc), 128);
}

std::function<double(const Dims&, const Config&)> product_work(std::vector<std::string> names) {
  return [names = std::move(names)](const Dims& d, const Config&) {
    double work = kProductWork;
    for (const auto& name : names) work *= as_double(std::max<std::int64_t>(get(d, name), 1));
    return work;
  };
}

template <class V>
void put(std::span<double> values, std::int64_t i, const V& sum, double beta) {
  const auto at = static_cast<std::size_t>(i);
  set_element<V>(values, at, sum + beta * element<V>(values, at));
}

// C = alpha op(A) op(B) + beta C.
template <class V>
void add_gemm(Registrar& registrar, const Type& type, Output output) {
  Routine r;
  r.spec =
      spec_of(type, "gemm", "C = alpha op(A) op(B) + beta C", {alpha(), beta_of(output)}, output);
  r.spec.dims = {size("M", "rows of C"), size("N", "columns of C"),
                 size("K", "columns of op(A)", kMostTerms)};
  r.spec.tensors = {either_major("A", type.dtype, "M", "K"),
                    either_major("B", type.dtype, "K", "N"),
                    matrix("C", type.dtype, role_of(output), "M", "N")};
  r.spec.work = product_work({"M", "N", "K"});
  r.run = [type](Context& ctx) {
    BlasCall call(ctx, type);
    const Stored a = call.stored("A"), b = call.stored("B");
    call.invoke("gemm_v2", a.op, b.op, call.dim("M"), call.dim("N"), call.dim("K"),
                call.scalar("alpha"), a.base, a.ld, b.base, b.ld, call.scalar("beta"),
                call.base("C"), call.pitch("C"));
  };
  r.row = [](InputRows& in, std::string_view, std::int64_t j, std::span<double> values) {
    PlainMatrix<V> a(in.tensor("A")), b(in.tensor("B"));
    const ColumnOf<V> column(b, j, in.dim("K"));
    for (std::int64_t i = 0; i < in.dim("M"); ++i)
      put<V>(values, i, as_double(in.knob("alpha")) * column.times_row(a, i),
             as_double(in.knob("beta")));
  };
  add(registrar, std::move(r), missing);
}

// A product with a symmetric, Hermitian or triangular A [S, S] on the left (S = M) or right (S =
// N). A's size depends on the side, but shapes can only depend on dims, so each side is a target.
struct SpecialProduct {
  const char* routine;
  Form form;
};

template <class V>
void add_special(Registrar& registrar, const Type& type, const SpecialProduct& p, bool left,
                 Output output) {
  const bool triangular = p.form == Form::triangular;
  std::vector<KnobSpec> knobs = {letters("side", {left ? "L" : "R"}, "the side of A"), uplo(),
                                 alpha()};
  if (triangular) {
    knobs.push_back(trans(type));
    knobs.push_back(diag());
  } else {
    knobs.push_back(beta_of(output));
  }
  Routine r;
  r.spec =
      spec_of(type, std::string(p.routine) + (left ? ".left" : ".right"),
              left ? "C = alpha A B + beta C" : "C = alpha B A + beta C", std::move(knobs), output);
  const std::string s = left ? "M" : "N";
  r.spec.dims = {size("M", "rows of B and C"), size("N", "columns of B and C")};
  r.spec.tensors = {matrix("A", type.dtype, Role::in, s, s),
                    matrix("B", type.dtype, Role::in, "M", "N"),
                    matrix("C", type.dtype, role_of(output), "M", "N")};
  r.spec.work = product_work({"M", "N", s});
  r.run = [type, p, triangular](Context& ctx) {
    BlasCall call(ctx, type);
    const std::string name = std::string(p.routine) + "_v2";
    const Index m = call.dim("M"), n = call.dim("N");
    const void* const alpha = call.scalar("alpha");
    if (triangular)
      return call.invoke(name, call.side(), call.uplo(), call.op("trans"), call.diag(), m, n, alpha,
                         call.base("A"), call.pitch("A"), call.base("B"), call.pitch("B"),
                         call.base("C"), call.pitch("C"));
    call.invoke(name, call.side(), call.uplo(), m, n, alpha, call.base("A"), call.pitch("A"),
                call.base("B"), call.pitch("B"), call.scalar("beta"), call.base("C"),
                call.pitch("C"));
  };
  r.row = [p, left, triangular, s](InputRows& in, std::string_view, std::int64_t j,
                                   std::span<double> values) {
    StoredMatrix<V> a(in.tensor("A"), rules_of(in.config(), p.form));
    PlainMatrix<V> stored_b(in.tensor("B"));
    Transposed<V, PlainMatrix<V>> b(stored_b);
    const double alpha = as_double(in.knob("alpha"));
    const double beta = triangular ? 0 : as_double(in.knob("beta"));
    const std::int64_t terms = in.dim(s);
    if (left) {
      const ColumnOf<V> column(b, j, terms);
      for (std::int64_t i = 0; i < in.dim("M"); ++i)
        put<V>(values, i, alpha * column.times_row(a, i), beta);
    } else {
      const ColumnOf<V> column(a, j, terms);
      for (std::int64_t i = 0; i < in.dim("M"); ++i)
        put<V>(values, i, alpha * column.times_row(b, i), beta);
    }
  };
  add(registrar, std::move(r), missing);
}

// C = alpha op(A) op(B)' + beta C in one triangle of C; the other triangle is not referenced. B is
// A in syrk and herk; syr2k adds the product with A and B exchanged.
struct RankK {
  const char* routine;
  bool has_b = false;
  bool two = false;
  const char* suffix = "_v2";  // syrkx has no suffix
};

template <class V>
void add_rank_k(Registrar& registrar, const Type& type, const RankK& p) {
  Routine r;
  // One operation applies to A and B, so both are stored in the same way.
  r.spec =
      spec_of(type, p.routine, "C = alpha A B^T + beta C in a triangle", {uplo(), alpha(), beta()});
  r.spec.dims = {size("N", "rows and columns of C"), size("K", "columns of A", kMostTerms)};
  r.spec.tensors = {matrix("A", type.dtype, Role::in, "N", "K"),
                    matrix("C", type.dtype, Role::inout, "N", "N")};
  if (p.has_b) r.spec.tensors.push_back(matrix("B", type.dtype, Role::in, "N", "K"));
  r.spec.work = product_work({"N", "N", "K"});
  r.run = [type, p](Context& ctx) {
    BlasCall call(ctx, type);
    const std::string name = std::string(p.routine) + p.suffix;
    const Index n = call.dim("N"), k = call.dim("K");
    const void *const alpha = call.scalar("alpha"), *const beta = call.scalar("beta");
    if (p.has_b)
      return call.invoke(name, call.uplo(), op_of("N"), n, k, alpha, call.base("A"),
                         call.pitch("A"), call.base("B"), call.pitch("B"), beta, call.base("C"),
                         call.pitch("C"));
    call.invoke(name, call.uplo(), op_of("N"), n, k, alpha, call.base("A"), call.pitch("A"), beta,
                call.base("C"), call.pitch("C"));
  };
  r.row = [p](InputRows& in, std::string_view, std::int64_t j, std::span<double> values) {
    PlainMatrix<V> a(in.tensor("A")), b(in.tensor(p.has_b ? "B" : "A"));
    const std::int64_t terms = in.dim("K");
    const ColumnOf<V> of_b(b, j, terms), of_a(a, j, terms);
    Transposed<V, PlainMatrix<V>> a_rows(a), b_rows(b);
    const bool lower = rules_of(in.config(), Form::symmetric).lower;
    for (std::int64_t i = lower ? j : 0; i < (lower ? in.dim("N") : j + 1); ++i) {
      V sum = of_b.times_row(a_rows, i);
      if (p.two) sum += of_a.times_row(b_rows, i);
      put<V>(values, i, as_double(in.knob("alpha")) * sum, as_double(in.knob("beta")));
    }
  };
  add(registrar, std::move(r), missing);
}

// C = alpha op(A) + beta op(B).
template <class V>
void add_geam(Registrar& registrar, const Type& type) {
  Routine r;
  r.spec = spec_of(type, "geam", "C = alpha op(A) + beta op(B)", {alpha(), beta()});
  r.spec.dims = {size("M", "rows of C", 65536), size("N", "columns of C", 65536)};
  r.spec.tensors = {either_major("A", type.dtype, "M", "N"),
                    either_major("B", type.dtype, "M", "N"),
                    matrix("C", type.dtype, Role::out, "M", "N")};
  r.spec.work = product_work({"M", "N"});
  r.run = [type](Context& ctx) {
    BlasCall call(ctx, type);
    const Stored a = call.stored("A"), b = call.stored("B");
    call.invoke("geam", a.op, b.op, call.dim("M"), call.dim("N"), call.scalar("alpha"), a.base,
                a.ld, call.scalar("beta"), b.base, b.ld, call.base("C"), call.pitch("C"));
  };
  r.row = [](InputRows& in, std::string_view, std::int64_t j, std::span<double> values) {
    InputTensor a = in.tensor("A"), b = in.tensor("B");
    for (std::int64_t i = 0; i < in.dim("M"); ++i)
      set_element<V>(
          values, static_cast<std::size_t>(i),
          as_double(in.knob("alpha")) * a.at<V>(i, j) + as_double(in.knob("beta")) * b.at<V>(i, j));
  };
  add(registrar, std::move(r), missing);
}

// C = diag(x) A or A diag(x).
template <class V>
void add_dgmm(Registrar& registrar, const Type& type, bool left) {
  Routine r;
  r.spec = spec_of(type, left ? "dgmm.left" : "dgmm.right", "C = diag(x) A or A diag(x)",
                   {letters("side", {left ? "L" : "R"}, "the side of diag(x)")});
  const std::string s = left ? "M" : "N";
  r.spec.dims = {size("M", "rows of C", 65536), size("N", "columns of C", 65536)};
  r.spec.tensors = {matrix("A", type.dtype, Role::in, "M", "N"),
                    vector("x", type.dtype, Role::in, s),
                    matrix("C", type.dtype, Role::out, "M", "N")};
  r.spec.work = product_work({"M", "N"});
  r.run = [type](Context& ctx) {
    BlasCall call(ctx, type);
    call.invoke("dgmm", call.side(), call.dim("M"), call.dim("N"), call.base("A"), call.pitch("A"),
                call.base("x"), call.pitch("x"), call.base("C"), call.pitch("C"));
  };
  r.row = [left](InputRows& in, std::string_view, std::int64_t j, std::span<double> values) {
    InputTensor a = in.tensor("A"), x = in.tensor("x");
    for (std::int64_t i = 0; i < in.dim("M"); ++i)
      set_element<V>(values, static_cast<std::size_t>(i), a.at<V>(j, i) * x.at<V>(left ? i : j, 0));
  };
  add(registrar, std::move(r), missing);
}

}  // namespace

void add_level3(Registrar& registrar) {
  for_all_types([&]<class V>(const Type& type) {
    for (const Output output : {Output::written, Output::added_to}) {
      add_gemm<V>(registrar, type, output);
      for (const bool left : {true, false}) {
        add_special<V>(registrar, type, {"symm", Form::symmetric}, left, output);
        if constexpr (!std::is_same_v<V, double>)
          add_special<V>(registrar, type, {"hemm", Form::hermitian}, left, output);
      }
    }
    for (const bool left : {true, false}) {
      add_special<V>(registrar, type, {"trmm", Form::triangular}, left, Output::written);
      add_dgmm<V>(registrar, type, left);
    }
    add_rank_k<V>(registrar, type, {.routine = "syrk"});
    add_rank_k<V>(registrar, type, {.routine = "syr2k", .has_b = true, .two = true});
    add_rank_k<V>(registrar, type, {.routine = "syrkx", .has_b = true, .suffix = ""});
    add_geam<V>(registrar, type);
  });
}

}  // namespace redzone::libraries::cublas
