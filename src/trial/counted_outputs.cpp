#include "trial/counted_outputs.h"

#include <algorithm>

#include "core/counted.h"

namespace redzone::trial {
namespace {

// Jobs that are enqueued together. Limited because a job has a few hundred bytes and an output may
// need millions of jobs.
constexpr std::size_t kJobsAtOnce = 4096;

struct Axis {
  std::int64_t size, stride;  // in elements of the job
};

// The job that sets the elements on these axes to 0, starting at `at`. Sorts `axes` into memory
// order. The innermost stride of a job is 1.
device::BufferJob zeros(const TensorBuffer& output, std::byte* at, std::vector<Axis>& axes) {
  const auto value_bytes = static_cast<std::int64_t>(dtype_bytes(real_type(output.dtype)));
  for (Axis& axis : axes) {
    if (axis.stride >= 0) continue;
    at += (axis.size - 1) * axis.stride * value_bytes;
    axis.stride = -axis.stride;
  }
  std::erase_if(axes, [](const Axis& axis) { return axis.size == 1; });
  std::sort(axes.begin(), axes.end(),
            [](const Axis& a, const Axis& b) { return a.stride > b.stride; });
  if (axes.empty() || axes.back().stride != 1) axes.push_back({1, 1});
  device::BufferJob job = {};
  job.data = at;
  job.rank = static_cast<std::uint32_t>(axes.size());
  job.numel = 1;
  for (std::size_t k = 0; k < axes.size(); ++k) {
    job.size[k] = axes[k].size;
    job.stride[k] = axes[k].stride;
    job.numel *= axes[k].size;
  }
  job.dtype = output.job.dtype;
  job.fill = device::FillKind::constant;
  return job;
}

std::int64_t valid(double count, std::int64_t size) {
  return count >= static_cast<double>(size)
             ? size
             : std::max(static_cast<std::int64_t>(count), std::int64_t{0});
}

}  // namespace

void visit_after_valid(const TensorBuffer& output, int dim, std::span<const double> counts,
                       const std::function<bool(const device::BufferJob&)>& visit) {
  const View& view = output.view;
  const auto along = static_cast<std::size_t>(dim);
  const std::int64_t reals = reals_per_element(output.dtype);
  const auto value_bytes = static_cast<std::int64_t>(dtype_bytes(real_type(output.dtype)));
  if (view.numel == 0) return;
  Shape index(along, 0);
  std::vector<Axis> axes;
  for (const double count : counts) {
    const std::int64_t size = view.shape[along], first = valid(count, size);
    if (first < size) {
      std::int64_t element = view.origin_elems + first * view.strides[along];
      for (std::size_t d = 0; d < along; ++d) element += index[d] * view.strides[d];
      axes.assign(1, {size - first, view.strides[along] * reals});
      for (std::size_t d = along + 1; d < view.shape.size(); ++d)
        axes.push_back({view.shape[d], view.strides[d] * reals});
      if (reals > 1) axes.push_back({reals, 1});
      if (!visit(zeros(output, output.at.data + element * reals * value_bytes, axes))) return;
    }
    for (std::size_t d = along; d-- > 0;) {
      if (++index[d] < view.shape[d]) break;
      index[d] = 0;
    }
  }
}

void CountedOutputs::settle(TrialState& state, const TargetSpec& spec, Segment& segment) {
  if (!counts_outputs(spec) || !state.session.synchronize()) return;
  if (state.session.stopped() && !state.session.gave_up()) return;
  std::size_t result = 0;
  for (std::size_t i = 0; i < segment.ran; ++i) {
    const CallUnit& unit = segment.units[i];
    if (unit.waits) continue;
    if (!settle(state, spec, segment, unit, result)) break;
    result += unit.tensors.size() + (segment.scratch_checked ? unit.scratch.size() : 0);
  }
  reader_.forget_large();
  forget_if_large(jobs_);
}

bool CountedOutputs::fill(TrialState& state) {
  if (!state.session.fill(0, jobs_) || !state.session.synchronize()) return false;
  state.show_progress();
  jobs_.clear();
  return true;
}

// False if the session has stopped. The device is idle before and after the call.
bool CountedOutputs::settle(TrialState& state, const TargetSpec& spec, Segment& segment,
                            const CallUnit& unit, std::size_t first_result) {
  for (std::size_t t = 0; t < unit.tensors.size(); ++t) {
    const TensorBuffer& output = unit.tensors[t];
    if (!output.spec->counted_by) continue;
    const auto* counts = reader_.read(state.session, unit.tensors[counter_of(*output.spec, spec)]);
    if (counts == nullptr) return false;
    state.show_progress();
    bool going = true, any = false;
    jobs_.clear();
    visit_after_valid(output, output.spec->counted_by->dim, *counts,
                      [&](const device::BufferJob& job) {
                        any = true;
                        jobs_.push_back(job);
                        if (jobs_.size() == kJobsAtOnce) going = fill(state);
                        return going;
                      });
    if (!going || (!jobs_.empty() && !fill(state))) return false;
    if (any && segment.checked &&
        !(state.session.check(0, {&output.job, 1}, &segment.results[first_result + t]) &&
          state.session.synchronize()))
      return false;
  }
  return true;
}

}  // namespace redzone::trial
