// The interface of a target: dims, tensors, knobs, tolerance.
//
// This header is public: plugins include it (through <redzone/target.h>), the harness generates
// plans from it. It holds plain values and functions of the dims; it allocates nothing on a device.
//
// Conventions used everywhere in Redzone:
//   * shapes are row-major, innermost dim last; strides are in elements, never bytes;
//   * a quantity carries its unit in its name (`_bytes`, `_elems`, `_us`).
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace redzone {

// `boolean` (in text "bool") is a byte that holds 0 or 1. `f8e4m3` and `f8e5m2` are the 8-bit
// floats of the OCP specification, as PyTorch's float8_e4m3fn and float8_e5m2: e4m3 ends at 448 and
// has no infinity. `c64` and `c128` are complex: a real, then an imaginary part, each f32 or f64.
// Plugins and stores contain the numbers, so new types are added at the end.
enum class DType : std::uint8_t {
  f32,
  f64,
  f16,
  bf16,
  i8,
  u8,
  i32,
  u32,
  i64,
  boolean,
  i16,
  u16,
  u64,
  f8e4m3,
  f8e5m2,
  c64,
  c128,
};

constexpr std::size_t dtype_bytes(DType t) {
  switch (t) {
    case DType::c128:
      return 16;
    case DType::f64:
    case DType::i64:
    case DType::u64:
    case DType::c64:
      return 8;
    case DType::f32:
    case DType::i32:
    case DType::u32:
      return 4;
    case DType::f16:
    case DType::bf16:
    case DType::i16:
    case DType::u16:
      return 2;
    case DType::i8:
    case DType::u8:
    case DType::boolean:
    case DType::f8e4m3:
    case DType::f8e5m2:
      return 1;
  }
  return 0;
}

// The type of the two parts of a complex element; for any other type, the type itself.
constexpr DType real_type(DType t) {
  return t == DType::c64 ? DType::f32 : t == DType::c128 ? DType::f64 : t;
}
constexpr int reals_per_element(DType t) {
  return real_type(t) == t ? 1 : 2;
}

// in: filled before the call, must be unchanged after it. out: poisoned before, digested after.
// inout: filled before, digested after.
enum class Role : std::uint8_t { in, out, inout };

using Shape = std::vector<std::int64_t>;
using Dims = std::map<std::string, std::int64_t, std::less<>>;
using Value = std::variant<std::int64_t, std::string>;
using Config = std::map<std::string, Value, std::less<>>;

// A target used a name or type that its own spec does not declare. Reported as a mistake of the
// target's author, never as a finding.
class __attribute__((visibility("default"))) SpecError : public std::out_of_range {
 public:
  using std::out_of_range::out_of_range;
};

// Reads a dim or knob that the target itself declared; throws SpecError on another name or type.
inline std::int64_t get(const Dims& dims, std::string_view name) {
  auto it = dims.find(name);
  if (it == dims.end()) throw SpecError("no dim '" + std::string(name) + "'");
  return it->second;
}
template <class T>
const T& get_knob(const Config& config, std::string_view name) {
  auto it = config.find(name);
  if (it == config.end()) throw SpecError("no knob '" + std::string(name) + "'");
  const T* value = std::get_if<T>(&it->second);
  if (value == nullptr) throw SpecError("knob '" + std::string(name) + "' is of another type");
  return *value;
}
inline std::int64_t get_int(const Config& config, std::string_view name) {
  return get_knob<std::int64_t>(config, name);
}
inline const std::string& get_str(const Config& config, std::string_view name) {
  return get_knob<std::string>(config, name);
}

// One integer of the shape, 0 or more. The generator draws it from [min, max] (or from `values`
// when that is not empty), biased towards the ends, the tile and its neighbours, and powers of two.
struct DimSpec {
  std::string name;
  std::int64_t min = 1;
  std::int64_t max = 4096;
  std::int64_t multiple_of = 1;
  std::vector<std::int64_t> values = {};  // the only values allowed, ascending; empty: the whole
                                          // range
  std::int64_t tile = 0;                  // a block size; sizes just below and above it are drawn
                                          // often; 0: none
  std::string doc = {};

  // Values in [min, max]; the other members have their defaults.
  static DimSpec of(std::string name, std::int64_t min, std::int64_t max, std::string doc,
                    std::int64_t tile = 0) {
    DimSpec d;
    d.name = std::move(name);
    d.min = min;
    d.max = max;
    d.tile = tile;
    d.doc = std::move(doc);
    return d;
  }
};

// A relation between dims. The first two kinds are repaired by the generator; a predicate is only
// tested, so prefer the first two.
struct Constraint {
  enum class Kind : std::uint8_t { divides, at_most, predicate };
  Kind kind = Kind::predicate;
  std::string a = {};  // divides: b % a == 0.  at_most: a <= b
  std::string b = {};
  std::string text = {};  // shown to the user when it does not hold
  std::function<bool(const Dims&, const Config&)> holds = {};

  static Constraint divides(std::string a, std::string b) {
    std::string text = a + " must divide " + b;
    return {Kind::divides, std::move(a), std::move(b), std::move(text), {}};
  }
  static Constraint at_most(std::string a, std::string b) {
    std::string text = a + " must be at most " + b;
    return {Kind::at_most, std::move(a), std::move(b), std::move(text), {}};
  }
  static Constraint predicate(std::string text,
                              std::function<bool(const Dims&, const Config&)> holds) {
    return {Kind::predicate, {}, {}, std::move(text), std::move(holds)};
  }
};

// How an input is filled. All kinds but `host` run on the device from a counter-based generator, so
// that element i depends only on (seed, i). A value is rounded to the element's type: 8-bit floats
// saturate, as CUDA's do; integers are rounded towards 0; a bool is 1 unless the value is 0. The
// two parts of a complex element are filled like two elements.
struct Fill {
  enum class Kind : std::uint8_t {
    uniform,   // reals in [lo, hi); bool: 0 or 1, regardless of lo and hi
    integers,  // integers in [range(dims).first, range(dims).second], the ends drawn often
    offsets,   // non-decreasing integers, first 0, last range(dims).second: row offsets of a
               // ragged batch. Rows of length 0 occur.
    constant,  // every element is lo
    // If the seed of the call is odd: reals in [lo, hi), like `uniform`. If it is even: small
    // integers of which three in four are 0, the others -2, -1, 1 or 2 (1 or 2 if the type is
    // unsigned). Sums of thousands of their products are exact in every order in f32 and wider, and
    // a term that is missing or counted twice changes a sum by at least 1 unless one of its factors
    // is 0. For inputs of matrix products.
    sums,
    // If the seed of the call is odd: reals in [lo, hi), like `uniform`. If it is even: also, but
    // one element in 16 is instead NaN, an infinity, -0, the smallest positive magnitude or the
    // smallest normal one, the last two and infinity with either sign. (f8e4m3 has no infinity: its
    // largest number.) Integers are filled like `uniform`. For kernels whose caller specifies the
    // results for such values.
    special_values,
  };
  Kind kind = Kind::uniform;
  double lo = -1.0;
  double hi = 1.0;
  std::function<std::pair<std::int64_t, std::int64_t>(const Dims&)> range = {};

  static Fill uniform(double lo, double hi) { return {Kind::uniform, lo, hi, {}}; }
  static Fill sums(double lo, double hi) { return {Kind::sums, lo, hi, {}}; }
  static Fill special_values(double lo, double hi) { return {Kind::special_values, lo, hi, {}}; }
  static Fill constant(double value) { return {Kind::constant, value, value, {}}; }
  static Fill integers(
      std::function<std::pair<std::int64_t, std::int64_t>(const Dims&)> inclusive) {
    return {Kind::integers, 0, 0, std::move(inclusive)};
  }
  static Fill offsets(std::function<std::int64_t(const Dims&)> total) {
    return {Kind::offsets, 0, 0, [total = std::move(total)](const Dims& d) {
              return std::pair<std::int64_t, std::int64_t>{0, total(d)};
            }};
  }
};

// How much of an output is valid if that depends on the data, such as the row numbers that a filter
// keeps, or rows of a batch with individual lengths. `tensor` contains integers, one for each index
// of the dims before `dim` in row-major order (one if `dim` is 0): the number of valid entries of
// that dim, which are its first ones. A negative number counts as 0, and a number above the size as
// the size.
struct CountedBy {
  std::string tensor;  // of any role; read after the call
  int dim = 0;         // index of a dim of the output
};

// Which layouts the target promises to handle. Contiguous is always allowed.
struct LayoutRules {
  bool row_padding = false;   // the pitch of the innermost row may exceed its length
  bool transposed = false;    // the last two dims may be swapped in memory
  bool offset = false;        // element 0 may lie inside a larger storage (a slice)
  bool unit_strides = false;  // a dim of size 1 may have any stride; the target must ignore it
  // [.., T, H, D] may be stored as [.., H, T, D]: the layouts NHD and HND of attention kernels.
  bool heads_first = false;
  // Dims outside the innermost matrix may have a larger pitch, as the queries of a packed QKV
  // tensor.
  bool slice = false;
  // A dim other than the last may have stride 0 (inputs only: `broadcast`) or a negative stride
  // (`reversed`).
  bool broadcast = false;
  bool reversed = false;
  // Paddings, slices and offsets are multiples of this many elements.
  std::int64_t granule_elems = 1;

  static LayoutRules contiguous() { return {}; }
  static LayoutRules strided() { return {true, true, true, true}; }
};

// |got - want| <= abs + rel * |want|; NaN in `got` passes only if `want` is NaN. The parts of a
// complex element are compared separately, and |want| is then that of the element. For an output of
// integers only `abs` of a target's tolerance applies, so that no index may be wrong by one;
// integers that are only approximate need their own tolerance (TensorSpec::tolerance).
struct Tolerance {
  double abs = 1e-5;
  double rel = 1e-5;
};

struct TensorSpec {
  std::string name;
  DType dtype = DType::f32;
  Role role = Role::in;
  std::function<Shape(const Dims&)> shape = {};  // at most 5 dims; a dim may be 0
  LayoutRules layouts = {};
  Fill fill = {};
  // Alignment of the base address that the kernel may assume, a power of two; 0: unspecified. The
  // elements end up to align_bytes - 1 bytes before the guard page of placement guard_after, so a
  // read past the end by less than that does not fault (canaries detect a write). Some plans have
  // bases that are aligned to no more than this. If it is unspecified, most plans use 16, and some
  // use the alignment with which the tensor ends at a guard page, which may be the size of an
  // element. So a kernel with vector loads must specify its alignment, and a kernel that needs less
  // than 16 is tested better if it specifies it.
  std::size_t align_bytes = 0;
  // Overrides `dtype` when the element type is itself a knob (e.g. dtype = "f32" | "bf16").
  std::function<DType(const Config&)> dtype_of = {};
  // Overrides `role` if knobs decide it (e.g. whether the call adds to its output). The fill must
  // be valid for an input, and the tensor cannot be broadcast.
  std::function<Role(const Config&)> role_of = {};
  // Overrides `shape` if knobs decide it, too (e.g. whether a matrix is passed transposed).
  std::function<Shape(const Dims&, const Config&)> shape_with_knobs = {};
  // Tolerance of this output; absent: the target's.
  std::optional<Tolerance> tolerance = {};
  // For role `out`: elements that are not valid are set to 0 after the call, before outputs are
  // digested and compared, so their contents after the call do not matter. References leave their
  // zeros in these elements.
  std::optional<CountedBy> counted_by = {};

  // A tensor aligned only to its element size, so that with placement guard_after the last element
  // touches the guard page.
  static TensorSpec of(std::string name, DType dtype, Role role,
                       std::function<Shape(const Dims&)> shape) {
    TensorSpec t;
    t.name = std::move(name);
    t.dtype = dtype;
    t.role = role;
    t.shape = std::move(shape);
    t.align_bytes = dtype_bytes(dtype);
    return t;
  }

  Shape shape_for(const Dims& d, const Config& c) const {
    return shape_with_knobs ? shape_with_knobs(d, c) : shape(d);
  }
  Role role_for(const Config& c) const { return role_of ? role_of(c) : role; }
  // Whether the tensor is filled before the call for some values of the knobs.
  bool may_be_filled() const { return role_of || role != Role::out; }
  bool may_be_output() const { return role_of || role != Role::in; }
  DType dtype_for(const Config& c) const { return dtype_of ? dtype_of(c) : dtype; }
  // The alignment that a kernel may assume in most plans.
  std::size_t promised_align_bytes() const { return align_bytes == 0 ? 16 : align_bytes; }
};

// Shape of the named dims, in order: shape_of({"B", "H", "T", "D"}).
inline std::function<Shape(const Dims&)> shape_of(std::vector<std::string> names) {
  return [names = std::move(names)](const Dims& d) {
    Shape s;
    s.reserve(names.size());
    for (const auto& n : names) s.push_back(get(d, n));
    return s;
  };
}

// A setting of the kernel or its launcher. The first value is the default.
struct KnobSpec {
  std::string name;
  std::vector<Value> values;  // the default first
  std::string doc = {};
  // The generator draws only the first `drawn` values; 0: all. The remaining values are for plans
  // that set them explicitly, e.g. historical mistakes of a launcher, which bisection tries.
  std::size_t drawn = 0;

  std::size_t draws() const { return drawn == 0 ? values.size() : drawn; }
};

// Maximum of TargetSpec::sampled_rows.
inline constexpr int kMostSampledRows = 1024;

// A launch as declared by the target, checked without a device.
struct LaunchDecl {
  std::string kernel;
  std::int64_t grid[3] = {1, 1, 1};
  std::int64_t block[3] = {1, 1, 1};
  std::int64_t shared_bytes = 0;
};

// Maximum number of side streams of a target.
inline constexpr int kMaxSideStreams = 6;

// A product that the kernel or the launcher computes in an integer of `bits` bits.
struct IndexProduct {
  std::string what;                   // e.g. "row * pitch of x"
  std::vector<std::int64_t> factors;  // largest value of each factor
  int bits = 32;
  bool is_signed = true;
};

struct Geometry {
  std::vector<LaunchDecl> launches = {};
  std::vector<IndexProduct> products = {};
};

// `dry_run` runs no kernel. Plugins are built for `host` or `cuda`; a dry run uses the targets of
// the host device, whose Context::device() is then `dry_run`. `none` is the name in older sources.
enum class DeviceKind : std::uint8_t { host, cuda, dry_run, none = dry_run };

// The purpose of a target. A puzzle has one planted bug; its fixed variant (`twin`) is the same
// kernel without the bug. A selftest has a bug for `redzone doctor` and is never part of a
// campaign.
enum class Category : std::uint8_t { kernel, puzzle, twin, selftest };

struct TargetSpec {
  std::string name;  // [a-z0-9_.]+
  std::string doc = {};
  Category category = Category::kernel;
  std::vector<DimSpec> dims = {};
  std::vector<Constraint> constraints = {};
  std::vector<TensorSpec> tensors = {};
  std::vector<KnobSpec> knobs = {};
  Tolerance tolerance = {};
  // Tolerance as a function of the config (e.g. looser for bf16); empty: `tolerance`.
  std::function<Tolerance(const Config&)> tolerance_of = {};
  bool deterministic = true;  // outputs are bitwise identical for the same inputs
  // Outputs may differ bitwise, within the tolerance, if a base is aligned further, e.g. because
  // vector loads are used if possible. Each tensor's base then has the same remainder modulo 256,
  // or twice its align_bytes if that is more, in all trials of a plan. Scratch is aligned as
  // requested.
  bool alignment_changes_bits = false;
  // The target may cache data derived from a tensor under the tensor's address, because its callers
  // keep all tensors (such as weights) until the end. Each tensor of a trial then has its own
  // address: no trial has `addresses = "reused"`, and no trial runs whose tensors do not fit in
  // memory at the same time.
  bool remembers_addresses = false;
  bool has_reference = false;      // Target::reference is implemented
  bool needs_nvrtc = false;        // kernels are compiled at run time on CUDA
  int min_compute_capability = 0;  // e.g. 90; 0: any
  // The kernels are machine code for this compute capability only; 0: no restriction.
  int only_compute_capability = 0;
  // Number of streams that run() uses besides the call's own, at most kMaxSideStreams:
  // Context::stream(1) and up. All calls of a trial use the same side streams; only Context::wait()
  // orders them.
  int side_streams = 0;
  // Calls of one instance may run on different streams without any ordering. If false, Redzone
  // inserts an event dependency between consecutive calls on different streams.
  bool concurrent_calls = false;
  // Calls may be captured into a graph that is replayed later. Must be false for a target that
  // synchronizes, captures graphs itself, or does work on the host that a replay must repeat.
  bool capturable = true;
  // Approximate scalar operations of one call; empty: the number of tensor elements. The generator
  // keeps the number within the device's budget, and the deadline of a trial grows with it.
  std::function<double(const Dims&, const Config&)> work = {};
  // Launches of one call, for the device-free oracle; empty: not declared.
  std::function<Geometry(const Dims&, const Config&)> geometry = {};
  // Number of rows of each output that are requested from Target::reference_rows() if the whole
  // reference of a call would take too long or too much memory, 3 .. kMostSampledRows: the first,
  // the last and others. 0: reference_rows() is not implemented, and such a call is not compared.
  int sampled_rows = 0;

  Tolerance tolerance_for(const Config& c) const {
    return tolerance_of ? tolerance_of(c) : tolerance;
  }
};

}  // namespace redzone
