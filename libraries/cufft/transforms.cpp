// Batched transforms of one and two dimensions with the advanced data layout ("2.6.
// Advanced Data Layout" of the cuFFT documentation): any stride, embedding and distance.
//
// Results are reproducible to the bit "as long as the plan input parameters, the cuFFT version and
// the GPU model are kept constant" ("2.9. Accuracy and Performance").
#include <complex>
#include <numbers>
#include <string>

#include "common/elements.h"
#include "common/routine.h"
#include "common/spec_parts.h"
#include "cufft/library.h"
#include "cufft/reference.h"
#include "cufft/transforms.h"

namespace redzone::libraries::cufft {
namespace {

// A kind of transform. C2R and Z2D are excluded because they may overwrite their input.
struct Kind {
  const char* name;
  DType in, out;
  int type;              // cufftType
  const char* function;  // function that executes it
  int sign;              // -1 forward, 1 inverse
  double tolerance;      // absolute, for values up to 1 and 65,536 points
};

constexpr int kR2C = 0x2a, kC2C = 0x29, kD2Z = 0x6a, kZ2Z = 0x69;
const Kind kKinds[] = {
    {"c2c_forward", DType::c64, DType::c64, kC2C, "cufftExecC2C", -1, 2e-2},
    {"c2c_inverse", DType::c64, DType::c64, kC2C, "cufftExecC2C", 1, 2e-2},
    {"z2z_forward", DType::c128, DType::c128, kZ2Z, "cufftExecZ2Z", -1, 1e-9},
    {"z2z_inverse", DType::c128, DType::c128, kZ2Z, "cufftExecZ2Z", 1, 1e-9},
    {"r2c", DType::f32, DType::c64, kR2C, "cufftExecR2C", -1, 2e-2},
    {"d2z", DType::f64, DType::c128, kD2Z, "cufftExecD2Z", -1, 1e-9},
};

// Whether a transform writes its result over its input.
enum class Place : std::uint8_t { out_of_place, in_place };

Side side_of(const TensorArg& t, int rank) {
  if (rank == 1) return {1, t.strides[1], t.strides[0]};
  return {t.strides[1], 1, t.strides[0]};
}

// Number of columns of the output; about half as many for a real signal.
std::int64_t columns_out(const Kind& kind, std::int64_t n) {
  return reals_per_element(kind.in) == 1 ? n / 2 + 1 : n;
}

void report(Context& ctx, const std::string& step, int status) {
  constexpr int kAllocFailed = 2, kNotSupported = 16;
  if (status == 0) return;
  if (status == kAllocFailed || status == kNotSupported)
    return ctx.unsupported(step + ": status " + std::to_string(status));
  ctx.fail("cufft", step + ": status " + std::to_string(status));
}

void run_transform(Context& ctx, const Kind& kind, int rank, Place place) {
  const auto x = ctx.tensor("x");
  const auto y = place == Place::in_place ? x : ctx.tensor("y");
  PlanKey key;
  key.rank = rank;
  key.n[0] = x.shape[1];
  if (rank == 2) key.n[1] = x.shape[2];
  key.in = side_of(x, rank);
  key.out = side_of(y, rank);
  key.type = kind.type;
  key.batch = x.shape[0];
  Library& fft = library();
  FftPlan plan;
  if (const int status = fft.plan(key, plan); status != 0)
    return report(ctx, "cufftMakePlanMany64", status);
  void* workspace = nullptr;
  if (plan.workspace_bytes > 0) workspace = ctx.scratch("workspace", plan.workspace_bytes);
  if (ctx.ended()) return;
  report(ctx, "cufftSetStream",
         fft.function<int(int, void*)>("cufftSetStream")(plan.handle, ctx.stream()));
  if (workspace != nullptr)
    report(ctx, "cufftSetWorkArea",
           fft.function<int(int, void*)>("cufftSetWorkArea")(plan.handle, workspace));
  if (ctx.ended()) return;
  if (reals_per_element(kind.in) == 1)
    return report(ctx, kind.function,
                  fft.function<int(int, void*, void*)>(kind.function)(plan.handle, x.base, y.base));
  report(ctx, kind.function,
         fft.function<int(int, void*, void*, int)>(kind.function)(plan.handle, x.base, y.base,
                                                                  kind.sign));
}

// The signal to transform along the last dim for row `row` of the output. In two dimensions it is
// the sum over the first dimension at the row's frequency.
Signal signal_of(InputRows& in, int rank, std::int64_t row, int sign) {
  InputTensor x = in.tensor("x");
  const std::int64_t first_points = rank == 1 ? 1 : in.dim("N0");
  const std::int64_t frequency = row % first_points, begin = row - frequency;
  Signal signal(static_cast<std::size_t>(x.columns()));
  for (std::int64_t i = 0; i < first_points; ++i) {
    const double turns = as_double(i * frequency % first_points) / as_double(first_points);
    const std::complex<double> factor = std::polar(1.0, sign * 2 * std::numbers::pi * turns);
    for (std::int64_t j = 0; j < x.columns(); ++j)
      signal[static_cast<std::size_t>(j)] += factor * x.at<std::complex<double>>(begin + i, j);
  }
  return signal;
}

TargetSpec spec_of(const Kind& kind, int rank, Place place) {
  TargetSpec spec;
  spec.name = std::string("cufft.") + (rank == 1 ? "1d." : "2d.") + kind.name +
              (place == Place::in_place ? ".in_place" : "");
  spec.doc = "batched transforms of " + std::to_string(rank) + " dimensions";
  spec.dims = {dim("B", 1, 65536, "transforms", 0)};
  if (rank == 2) spec.dims.push_back(dim("N0", 1, 256, "points of the first dimension", 32));
  spec.dims.push_back(dim("N", 1, rank == 1 ? 65536 : 256, "points of the last dimension", 32));
  LayoutRules layouts = rank == 1 ? leading_dimension() : strided_batch();
  layouts.transposed = rank == 1;  // the points of a signal are then a stride apart
  const auto shape = [rank](std::function<std::int64_t(std::int64_t)> columns) {
    return [rank, columns = std::move(columns)](const Dims& d) {
      const std::int64_t n = columns(get(d, "N"));
      return rank == 1 ? Shape{get(d, "B"), n} : Shape{get(d, "B"), get(d, "N0"), n};
    };
  };
  const bool in_place = place == Place::in_place;
  spec.tensors = {tensor("x", kind.in, in_place ? Role::inout : Role::in,
                         shape([](std::int64_t n) { return n; }), layouts)};
  if (!in_place)
    spec.tensors.push_back(tensor("y", kind.out, Role::out,
                                  shape([&kind](std::int64_t n) { return columns_out(kind, n); }),
                                  layouts));
  for (auto& t : spec.tensors) t.fill = Fill::uniform(-1, 1);
  // cuFFT rejects a real input (CUFFT_INVALID_VALUE) that is not aligned to a complex element.
  if (reals_per_element(kind.in) == 1) {
    spec.tensors[0].align_bytes = dtype_bytes(kind.out);
    spec.tensors[0].layouts.granule_elems = 2;
  }
  spec.tolerance = {kind.tolerance, kind.tolerance / 100};
  spec.has_reference = true;
  spec.sampled_rows = kSampledRows;
  spec.capturable = false;  // a plan cannot be made during a capture
  spec.work = [rank](const Dims& d, const Config&) {
    const double points = as_double(get(d, "N")) * (rank == 2 ? as_double(get(d, "N0")) : 1);
    return 40 * as_double(get(d, "B")) * points;
  };
  return spec;
}

void add_transform(Registrar& registrar, const Kind& kind, int rank, Place place) {
  Routine r;
  r.spec = spec_of(kind, rank, place);
  r.run = [&kind, rank, place](Context& ctx) { run_transform(ctx, kind, rank, place); };
  r.row = [&kind, rank](InputRows& in, std::string_view, std::int64_t row,
                        std::span<double> values) {
    const Signal out = transform(signal_of(in, rank, row, kind.sign), kind.sign);
    for (std::size_t i = 0; i < values.size() / 2; ++i)
      set_element<std::complex<double>>(values, i, out[i]);
  };
  add(registrar, std::move(r), [] { return library().problem(); });
}

}  // namespace

void add_targets(Registrar& registrar) {
  for (const Kind& kind : kKinds)
    for (const int rank : {1, 2}) {
      add_transform(registrar, kind, rank, Place::out_of_place);
      if (kind.in == kind.out) add_transform(registrar, kind, rank, Place::in_place);
    }
}

// Creates a first plan, which loads the library's kernels.
void prepare() {
  FftPlan plan;
  PlanKey key;
  key.n[0] = 8;
  key.type = kC2C;
  if (library().problem().empty()) library().plan(key, plan);
}

}  // namespace redzone::libraries::cufft
