#include "trial/tensor_buffer.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "core/counted.h"
#include "core/round_up.h"
#include "core/spec_limits.h"
#include "core/spec_mistake.h"
#include "device/buffer_math.h"

namespace redzone::trial {
namespace {

// FNV-1a.
std::uint64_t hash_name(std::string_view name) {
  std::uint64_t h = 0xcbf29ce484222325ull;
  for (const char c : name) h = (h ^ static_cast<unsigned char>(c)) * 0x100000001b3ull;
  return h;
}

std::uint64_t seed_of_tensor(const Call& call, const TensorSpec& spec) {
  return device::mix(call.seed ^ hash_name(spec.name));
}

// Whether the base must be an odd multiple of the promised alignment. `spec` must be an element of
// `target.tensors`.
bool is_exact(const TensorSpec& spec, const TargetSpec& target, const Call& call,
              const Mode& mode) {
  const auto k = static_cast<std::size_t>(&spec - target.tensors.data());
  if (mode.alignment == Alignment::mixed) return !is_aligned_further(call.seed, k);
  return mode.alignment == Alignment::exact;
}

// Sets the alignment of the storage. An empty storage always lies at the guard page. Only the skew,
// which is the same in all trials, makes the actual alignment less than promised: with the skew the
// storage can end at its guard page.
void align(const TensorSpec& spec, std::size_t promised, bool exact, Alignment alignment,
           Storage& storage) {
  constexpr std::size_t kVector = 16;  // bytes of the widest load of one thread on most GPUs
  storage.align_bytes = promised;
  storage.skew_bytes = 0;
  if (storage.bytes == 0) return;
  if (exact) {
    storage.align_bytes = 2 * promised;
    storage.skew_bytes = promised;
  } else if (alignment == Alignment::mixed) {
    storage.align_bytes = std::max(2 * promised, kVector);
  } else if (alignment == Alignment::element && spec.align_bytes == 0) {
    storage.skew_bytes = round_up(storage.bytes, promised) - storage.bytes;
  }
}

// Keeps the alignment and gives the base the same remainder in all trials. With one remainder a
// storage cannot touch the guard pages on both sides: it ends at its page under guard_after,
// because most kernels that access memory outside of a tensor do so after its end. With an exact
// alignment the storage cannot touch either page and stays near the start of its region.
void fix_remainder(std::size_t promised, bool exact, Storage& storage) {
  if (storage.bytes == 0) return;
  const std::size_t to_end = round_up(storage.bytes + storage.skew_bytes, storage.align_bytes);
  storage.align_bytes = std::max(2 * promised, kRegionAlign);
  if (!exact) storage.skew_bytes = (storage.skew_bytes - to_end) & (storage.align_bytes - 1);
}

tl::unexpected<Error> too_large(std::string why) {
  return harness_error(std::move(why));
}

// A usage error if the author's function returns an invalid shape.
Result<Shape> shape_of_call(const TensorSpec& spec, const Call& call) {
  Shape shape = spec.shape_for(call.dims, call.config);
  if (const auto problem = shape_violation(shape))
    return usage_error("its shape function " + *problem);
  return shape;
}

// A usage error if the author's range contains no number to fill `numel` elements with.
Result<void> set_fill(const TensorSpec& spec, Role role, const Call& call, std::int64_t numel,
                      device::BufferJob& job) {
  if (role == Role::out) {
    job.fill = device::FillKind::poison;
    return {};
  }
  const auto range = [&]() -> Result<void> {
    const auto range = spec.fill.range(call.dims);
    if (const auto problem = range_problem(range, numel))
      return usage_error("the range of its fill " + *problem);
    job.first = range.first;
    job.last = range.second;
    return {};
  };
  Result<void> ranged;
  switch (spec.fill.kind) {
    case Fill::Kind::uniform:
      job.fill = device::FillKind::uniform;
      break;
    case Fill::Kind::constant:
      job.fill = device::FillKind::constant;
      break;
    case Fill::Kind::sums:
      job.fill = call.seed % 2 == 0 ? device::FillKind::sparse : device::FillKind::uniform;
      break;
    case Fill::Kind::special_values:
      job.fill = call.seed % 2 == 0 ? device::FillKind::special : device::FillKind::uniform;
      break;
    case Fill::Kind::integers:
      job.fill = device::FillKind::integers;
      ranged = range();
      break;
    case Fill::Kind::offsets:
      job.fill = device::FillKind::offsets;
      ranged = range();
      break;
  }
  job.lo = spec.fill.lo;
  job.hi = spec.fill.hi;
  job.seed = seed_of_tensor(call, spec);
  return ranged;
}

std::uint64_t gap_end_bytes(const View& view, std::size_t element_bytes) {
  const auto bytes = static_cast<double>(element_bytes);
  const std::int64_t gap_elems = view.storage_elems - view.offset_elems - view.numel;
  const bool sparse =
      is_sparse(static_cast<double>(gap_elems) * bytes, static_cast<double>(view.numel) * bytes);
  return sparse ? kSparseGapEndBytes : device::kWholeGaps;
}

// The elements of the job are reals: a complex tensor has twice as many, in pairs.
void set_elements(const View& view, DType dtype, device::BufferJob& job) {
  const std::int64_t reals = reals_per_element(dtype);
  job.rank = static_cast<std::uint32_t>(view.memory_sizes.size());
  for (std::size_t k = 0; k < job.rank; ++k) {
    const bool innermost = k + 1 == job.rank;
    job.size[k] = view.memory_sizes[k] * (innermost ? reals : 1);
    job.stride[k] = view.memory_strides[k] * (innermost ? 1 : reals);
  }
  job.dtype = static_cast<std::uint8_t>(real_type(dtype));
  job.numel = view.numel * reals;
}

}  // namespace

Result<void> describe_tensor(const TensorSpec& spec, const TargetSpec& target, const Call& call,
                             const Mode& mode, TensorBuffer& out) {
  RZ_TRY_ASSIGN(const auto shape, shape_of_call(spec, call));
  if (auto problem = counting_problem(spec, target, call.dims, call.config))
    return usage_error(std::move(*problem));
  auto view = make_view(shape, call.layout(spec.name));
  if (!view) return too_large(view.error().message);
  static_assert(device::kMaxRank > kMostRank);  // a complex element is a dim of two reals
  out.spec = &spec;
  out.role = spec.role_for(call.config);
  out.dtype = spec.dtype_for(call.config);
  out.view = std::move(*view);
  const std::size_t element_bytes = dtype_bytes(out.dtype);
  // Half the address space, so that rounding up to pages cannot overflow either.
  constexpr std::int64_t kMostBytes = std::int64_t{1} << 62;
  if (out.view.storage_elems > kMostBytes / static_cast<std::int64_t>(element_bytes))
    return too_large("tensor too large");
  out.storage = {static_cast<std::size_t>(out.view.storage_elems) * element_bytes,
                 static_cast<std::size_t>(out.view.offset_elems) * element_bytes};
  const std::size_t promised = std::max(element_bytes, spec.promised_align_bytes());
  const bool exact = is_exact(spec, target, call, mode);
  align(spec, promised, exact, mode.alignment, out.storage);
  if (target.alignment_changes_bits && target.deterministic)
    fix_remainder(promised, exact, out.storage);
  out.at = {};

  device::BufferJob& job = out.job = {};
  set_elements(out.view, out.dtype, job);
  job.verify_unchanged = out.role == Role::in;
  job.poison = mode.poison;
  job.canary = device::canary_for(mode.poison, hash_name(spec.name));
  if (mode.allocator == Allocator::guard)
    job.gap_end_bytes = gap_end_bytes(out.view, element_bytes);
  return set_fill(spec, out.role, call, job.numel, job);
}

void place_tensor(TensorBuffer& tensor, const device::Region& region, const Mode& mode) {
  tensor.at = place(region, tensor.storage, mode);
  set_place(tensor.job, tensor.at);
}

TensorArg argument(const TensorBuffer& tensor) {
  const std::int64_t origin_bytes =
      tensor.view.origin_elems * static_cast<std::int64_t>(dtype_bytes(tensor.dtype));
  return {tensor.at.data == nullptr ? nullptr : tensor.at.data + origin_bytes, tensor.dtype,
          tensor.view.shape, tensor.view.strides};
}

}  // namespace redzone::trial
