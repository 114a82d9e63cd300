#include "exec/trial/schedule.h"

#include <fmt/format.h>

#include <algorithm>

namespace redzone::exec {
namespace {

Result<int> checked_stream(std::int64_t stream) {
  if (stream < 0 || stream >= kMaxStreams)
    return harness_error(fmt::format("stream {} is not in 0..{}", stream, kMaxStreams - 1));
  return static_cast<int>(stream);
}

Result<void> add_call(const CallStep& step, std::int32_t index, bool own_buffers, Schedule& out) {
  if (step.repeat < 1 || step.repeat > kMaxRepeat)
    return harness_error(fmt::format("repeat {} is not in 1..{}", step.repeat, kMaxRepeat));
  const auto stream = checked_stream(step.stream);
  if (!stream) return tl::unexpected(stream.error());
  RunItem item{.call = &step.call, .index = index, .stream = *stream};
  const std::int64_t items = own_buffers ? step.repeat : 1;
  item.runs = own_buffers ? 1 : step.repeat;
  for (std::int64_t k = 0; k < items; ++k) {
    item.first = k == 0;
    item.last = k == items - 1;
    out.items.push_back(item);
  }
  out.streams = std::max(out.streams, *stream + 1);
  return {};
}

Result<void> as_written(const Plan& plan, bool own_buffers, Schedule& out) {
  std::int32_t index = 0;
  for (const auto& step : plan.steps) {
    if (const auto* call = std::get_if<CallStep>(&step)) {
      if (auto added = add_call(*call, index++, own_buffers, out); !added) return added;
    } else if (const auto* wait = std::get_if<WaitStep>(&step)) {
      const auto stream = checked_stream(wait->stream);
      const auto on = checked_stream(wait->on);
      if (!stream) return tl::unexpected(stream.error());
      if (!on) return tl::unexpected(on.error());
      out.items.push_back({.kind = RunItem::Kind::wait, .stream = *stream, .on = *on});
      out.streams = std::max({out.streams, *stream + 1, *on + 1});
    } else {
      out.items.push_back({.kind = RunItem::Kind::sync});
    }
  }
  out.calls = index;
  return {};
}

}  // namespace

Result<void> make_schedule(const Plan& plan, const TrialSpec& trial, bool own_buffers,
                           Schedule& out) {
  out.items.clear();
  out.streams = 1;
  if (trial.order.empty()) return as_written(plan, own_buffers, out);
  const auto calls = calls_of(plan);
  out.calls = static_cast<std::int32_t>(calls.size());
  for (const std::uint32_t index : trial.order) {
    if (index >= calls.size())
      return harness_error(fmt::format("call {} of {} in the order", index, calls.size()));
    out.items.push_back({.call = &calls[index]->call, .index = static_cast<std::int32_t>(index)});
  }
  return {};
}

}  // namespace redzone::exec
