// Products with a sparse matrix through the generic API ("6. cuSPARSE Generic
// APIs" of its documentation).
#include <algorithm>
#include <array>
#include <cstring>
#include <functional>
#include <string>

#include "common/elements.h"
#include "common/product.h"
#include "common/routine.h"
#include "common/spec_parts.h"
#include "cusparse/index_arrays.h"
#include "cusparse/library.h"
#include "cusparse/products.h"

namespace redzone::libraries::cusparse {
namespace {

// Values of cudaDataType, cusparseIndexType_t, cusparseOrder_t, cusparseStatus_t.
constexpr int kIndex32 = 2, kIndex64 = 3, kColumnOrder = 1, kRowOrder = 2;
constexpr int kAllocFailed = 2, kNotSupported = 10, kInsufficientResources = 11;

struct Type {
  char letter;
  DType dtype;
  int code;
};
const Type kTypes[] = {
    {'s', DType::f32, 0}, {'d', DType::f64, 1}, {'c', DType::c64, 4}, {'z', DType::c128, 5}};

Pattern pattern_of(const Dims& d) {
  return {get(d, "R"), get(d, "C"), get(d, "L")};
}

enum class Format : std::uint8_t { csr, coo };

// A descriptor of cuSPARSE with its destructor.
class Descriptor {
 public:
  template <class... A>
  Descriptor(const std::string& create, const char* destroy, A... args) : destroy_(destroy) {
    status_ = library().function<int(void**, A...)>(create)(&handle_, args...);
  }
  ~Descriptor() {
    if (status_ == 0) library().function<int(void*)>(destroy_)(handle_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;

  void* get() const { return handle_; }
  int status() const { return status_; }

 private:
  std::string destroy_;
  void* handle_ = nullptr;
  int status_ = 0;
};

// One call: sets the stream, creates descriptors, checks statuses.
class SparseCall {
 public:
  SparseCall(Context& ctx, const Type& type) : ctx_(ctx), type_(type) {
    check("cusparseSetStream", library().function<int(void*, void*)>("cusparseSetStream")(
                                   library().handle(), ctx.stream()));
  }

  // Returns false if the call has ended.
  bool check(const std::string& step, int status) {
    if (status == 0) return !ctx_.ended();
    const std::string said = step + ": status " + std::to_string(status);
    if (status == kAllocFailed || status == kNotSupported || status == kInsufficientResources)
      ctx_.unsupported(said);
    else
      ctx_.fail("cusparse", said);
    return false;
  }

  // The sparse matrix with the elements of the tensor `values`; a kernel writes its index arrays.
  Descriptor sparse(Format format) {
    const Pattern p = pattern_of(ctx_.dims());
    const bool wide = ctx_.knob("index") == 64;
    const IndexArrays indices = write_indices(ctx_, p, format == Format::coo, wide);
    void* const values = ctx_.tensor("values").base;
    const int code = wide ? kIndex64 : kIndex32;
    constexpr int kBaseZero = 0;
    if (format == Format::csr)
      return Descriptor("cusparseCreateCsr", "cusparseDestroySpMat", p.rows, p.columns,
                        p.elements(), indices.rows, indices.columns, values, code, code, kBaseZero,
                        type_.code);
    return Descriptor("cusparseCreateCoo", "cusparseDestroySpMat", p.rows, p.columns, p.elements(),
                      indices.rows, indices.columns, values, code, kBaseZero, type_.code);
  }
  Descriptor dense_vector(std::string_view tensor) {
    const auto t = ctx_.tensor(tensor);
    return Descriptor("cusparseCreateDnVec", "cusparseDestroyDnVec", t.shape[0], t.base,
                      type_.code);
  }
  // A row-major or column-major matrix with a leading dimension.
  Descriptor dense_matrix(std::string_view tensor) {
    const auto t = ctx_.tensor(tensor);
    const ColumnMajor m = column_major(t);
    return Descriptor("cusparseCreateDnMat", "cusparseDestroyDnMat", t.shape[0], t.shape[1], m.ld,
                      m.base, type_.code, m.transposed ? kRowOrder : kColumnOrder);
  }
  const void* scalar(std::string_view knob) {
    const auto value = static_cast<double>(ctx_.knob(knob));
    auto& bytes = scalars_.at(used_++).bytes;
    if (real_type(type_.dtype) == DType::f64) {
      std::memcpy(bytes.data(), &value, sizeof value);
    } else {
      const auto single = static_cast<float>(value);
      std::memcpy(bytes.data(), &single, sizeof single);
    }
    return bytes.data();
  }
  // The external buffer of a routine. Null if the routine needs none; see Context::ended().
  void* buffer(std::size_t bytes) { return bytes == 0 ? nullptr : ctx_.scratch("buffer", bytes); }

 private:
  Context& ctx_;
  const Type& type_;
  struct alignas(16) Scalar {
    std::array<unsigned char, 16> bytes = {};
  };
  std::array<Scalar, 2> scalars_;
  std::size_t used_ = 0;
};

// Calls `routine`_bufferSize and `routine`, whose arguments differ only in the last one.
template <class... A>
void run_with_buffer(Context& ctx, SparseCall& call, const std::string& routine, A... args) {
  if (ctx.ended()) return;
  std::size_t bytes = 0;
  void* const handle = library().handle();
  if (!call.check(routine + "_bufferSize", library().function<int(void*, A..., std::size_t*)>(
                                               routine + "_bufferSize")(handle, args..., &bytes)))
    return;
  void* const buffer = call.buffer(bytes);
  if (ctx.ended()) return;
  call.check(routine,
             library().function<int(void*, A..., void*)>(routine)(handle, args..., buffer));
}

// Calls `routine` for y = alpha op(a) op(x) + beta y with the operations `ops`.
template <class... Ops>
void run_product(Context& ctx, SparseCall& call, const std::string& routine, const Type& type,
                 const Descriptor& a, const Descriptor& x, const Descriptor& y, Ops... ops) {
  for (const Descriptor* d : {&a, &x, &y})
    if (!call.check("a descriptor", d->status())) return;
  run_with_buffer(ctx, call, routine, ops..., call.scalar("alpha"), a.get(), x.get(),
                  call.scalar("beta"), y.get(), type.code, static_cast<int>(ctx.knob("algorithm")));
}

TensorSpec values_of(const Type& type, Role role) {
  LayoutRules offset_only;
  offset_only.offset = true;
  return tensor(
      "values", type.dtype, role, [](const Dims& d) { return Shape{pattern_of(d).elements()}; },
      offset_only);
}

Routine routine_of(const Type& type, std::string name, std::string doc) {
  Routine r;
  r.spec.name = "cusparse." + (type.letter + std::move(name));
  r.spec.doc = std::move(doc);
  r.spec.dims = {dim("R", 1, 65536, "rows of the sparse matrix", 32),
                 dim("C", 1, 65536, "columns of the sparse matrix", 32),
                 dim("L", 0, 65536, "elements of its longest rows", 32)};
  r.spec.constraints = {Constraint::at_most("L", "C")};
  r.spec.knobs = {numbers("index", {32, 64}, "bits of the indices"),
                  numbers("alpha", {1, 2}, "factor of the product")};
  r.spec.tolerance = {0, 0};
  r.spec.has_reference = true;
  r.spec.sampled_rows = kSampledRows;
  return r;
}

KnobSpec beta_of(Role output) {
  return output == Role::out ? numbers("beta", {0}, "the output is not read")
                             : numbers("beta", {1, 2}, "factor of the output's old values");
}

std::string missing() {
  return library().problem();
}

// y = alpha A x + beta y.
template <class V>
void add_spmv(Registrar& registrar, const Type& type, Format format, Role output) {
  Routine r = routine_of(type,
                         std::string("spmv.") + (format == Format::csr ? "csr" : "coo") +
                             (output == Role::inout ? ".add" : ""),
                         "y = alpha A x + beta y, A sparse");
  // Values of cusparseSpMVAlg_t: the default, and both algorithms of the format.
  r.spec.knobs.push_back(numbers("algorithm",
                                 format == Format::csr ? std::vector<std::int64_t>{0, 2, 3}
                                                       : std::vector<std::int64_t>{0, 1, 4},
                                 "cusparseSpMVAlg_t"));
  r.spec.knobs.push_back(beta_of(output));
  LayoutRules offset_only;
  offset_only.offset = true;
  r.spec.tensors = {values_of(type, Role::in),
                    tensor("x", type.dtype, Role::in, shape_of({"C"}), offset_only),
                    tensor(
                        "y", type.dtype, output,
                        [](const Dims& d) {
                          return Shape{get(d, "R"), 1};
                        },
                        offset_only)};
  r.spec.work = [](const Dims& d, const Config&) {
    return kProductWork * as_double(pattern_of(d).elements()) + as_double(get(d, "R"));
  };
  r.run = [type, format](Context& ctx) {
    SparseCall call(ctx, type);
    const Descriptor a = call.sparse(format), x = call.dense_vector("x"),
                     y = call.dense_vector("y");
    run_product(ctx, call, "cusparseSpMV", type, a, x, y, 0);
  };
  r.row = [](InputRows& in, std::string_view, std::int64_t row, std::span<double> values) {
    const Pattern p = pattern_of(in.dims());
    InputTensor a = in.tensor("values"), x = in.tensor("x");
    V sum(0);
    for (std::int64_t k = 0; k < p.length(row); ++k)
      sum += a.at<V>(0, p.offset(row) + k) * x.at<V>(0, p.column(row, k));
    set_element<V>(
        values, 0,
        as_double(in.knob("alpha")) * sum + as_double(in.knob("beta")) * element<V>(values, 0));
  };
  add(registrar, std::move(r), missing);
}

LayoutRules either_order() {
  LayoutRules rules = leading_dimension();
  rules.transposed = true;
  return rules;
}

// Y = alpha A X + beta Y.
template <class V>
void add_spmm(Registrar& registrar, const Type& type, Format format, Role output) {
  Routine r = routine_of(type,
                         std::string("spmm.") + (format == Format::csr ? "csr" : "coo") +
                             (output == Role::inout ? ".add" : ""),
                         "Y = alpha A X + beta Y, A sparse");
  r.spec.dims.push_back(dim("N", 1, 4096, "columns of X and Y", 32));
  r.spec.knobs.push_back(numbers("algorithm",
                                 format == Format::csr ? std::vector<std::int64_t>{0, 4, 6}
                                                       : std::vector<std::int64_t>{0, 1, 2, 3, 5},
                                 "cusparseSpMMAlg_t"));
  r.spec.knobs.push_back(beta_of(output));
  r.spec.tensors = {values_of(type, Role::in),
                    tensor("X", type.dtype, Role::in, shape_of({"C", "N"}), either_order()),
                    tensor("Y", type.dtype, output, shape_of({"R", "N"}), either_order())};
  r.spec.work = [](const Dims& d, const Config&) {
    return (kProductWork * as_double(pattern_of(d).elements()) + as_double(get(d, "R"))) *
           as_double(get(d, "N"));
  };
  r.run = [type, format](Context& ctx) {
    SparseCall call(ctx, type);
    const Descriptor a = call.sparse(format), x = call.dense_matrix("X"),
                     y = call.dense_matrix("Y");
    run_product(ctx, call, "cusparseSpMM", type, a, x, y, 0, 0);
  };
  r.row = [](InputRows& in, std::string_view, std::int64_t row, std::span<double> values) {
    const Pattern p = pattern_of(in.dims());
    InputTensor a = in.tensor("values"), x = in.tensor("X");
    std::vector<V> sums(static_cast<std::size_t>(in.dim("N")), V(0));
    for (std::int64_t k = 0; k < p.length(row); ++k) {
      const V factor = a.at<V>(0, p.offset(row) + k);
      for (std::size_t j = 0; j < sums.size(); ++j)
        sums[j] += factor * x.at<V>(p.column(row, k), static_cast<std::int64_t>(j));
    }
    for (std::size_t j = 0; j < sums.size(); ++j)
      set_element<V>(values, j,
                     as_double(in.knob("alpha")) * sums[j] +
                         as_double(in.knob("beta")) * element<V>(values, j));
  };
  add(registrar, std::move(r), missing);
}

// C = alpha A B at the elements of the sparse matrix C, plus beta times their old values.
template <class V>
void add_sddmm(Registrar& registrar, const Type& type) {
  Routine r =
      routine_of(type, "sddmm.csr", "C = alpha (A B) at the elements of C + beta C, C sparse");
  r.spec.dims.push_back(dim("K", 1, 1024, "columns of A", 32));
  r.spec.knobs.push_back(beta_of(Role::inout));
  r.spec.tensors = {values_of(type, Role::inout),
                    tensor("A", type.dtype, Role::in, shape_of({"R", "K"}), either_order()),
                    tensor("B", type.dtype, Role::in, shape_of({"K", "C"}), either_order())};
  r.spec.work = [](const Dims& d, const Config&) {
    return (kProductWork * as_double(pattern_of(d).elements()) + as_double(get(d, "R")) +
            as_double(get(d, "C"))) *
           as_double(get(d, "K"));
  };
  // Its only row is all of C, so a large C is not compared.
  r.spec.sampled_rows = 0;
  r.run = [type](Context& ctx) {
    SparseCall call(ctx, type);
    const Descriptor a = call.dense_matrix("A"), b = call.dense_matrix("B"),
                     c = call.sparse(Format::csr);
    for (const Descriptor* d : {&a, &b, &c})
      if (!call.check("a descriptor", d->status())) return;
    constexpr int kDefault = 0;
    run_with_buffer(ctx, call, "cusparseSDDMM", 0, 0, call.scalar("alpha"), a.get(), b.get(),
                    call.scalar("beta"), c.get(), type.code, kDefault);
  };
  r.row = [](InputRows& in, std::string_view, std::int64_t, std::span<double> values) {
    const Pattern p = pattern_of(in.dims());
    InputTensor a = in.tensor("A"), b = in.tensor("B");
    for (std::int64_t row = 0; row < p.rows; ++row)
      for (std::int64_t k = 0; k < p.length(row); ++k) {
        V sum(0);
        for (std::int64_t i = 0; i < in.dim("K"); ++i)
          sum += a.at<V>(row, i) * b.at<V>(i, p.column(row, k));
        const auto at = static_cast<std::size_t>(p.offset(row) + k);
        set_element<V>(values, at,
                       as_double(in.knob("alpha")) * sum +
                           as_double(in.knob("beta")) * element<V>(values, at));
      }
  };
  add(registrar, std::move(r), missing);
}

template <class V>
void add_type(Registrar& registrar, const Type& type) {
  for (const Format format : {Format::csr, Format::coo})
    for (const Role output : {Role::out, Role::inout}) {
      add_spmv<V>(registrar, type, format, output);
      add_spmm<V>(registrar, type, format, output);
    }
  add_sddmm<V>(registrar, type);
}

}  // namespace

void add_targets(Registrar& registrar) {
  for (const Type& type : kTypes)
    if (reals_per_element(type.dtype) == 1)
      add_type<double>(registrar, type);
    else
      add_type<std::complex<double>>(registrar, type);
}

}  // namespace redzone::libraries::cusparse
