// Stages of simplify() that change one setting at a time.
#include <rapidcheck/seq/Create.h>
#include <rapidcheck/seq/Transform.h>
#include <rapidcheck/shrink/Shrink.h>

#include <algorithm>
#include <map>
#include <vector>

#include "core/mode_axes.h"
#include "generators/internal/complexity.h"
#include "generators/internal/stages.h"

namespace redzone::generators {
namespace {

// One changed step for each alternative value; `set` applies the value.
template <class T, class Set>
rc::Seq<CallStep> each_value(const CallStep& step, std::vector<T> values, Set set) {
  return rc::seq::map(rc::seq::fromContainer(std::move(values)), [step, set](const T& value) {
    CallStep changed = step;
    set(changed, value);
    return changed;
  });
}

rc::Seq<Plan> fewer_repeats(const OriginPtr& origin) {
  return in_one_call(origin, [](const CallStep& step) {
    return each_value(step, descending_choices(step.repeat, 1, 0),
                      [](CallStep& s, std::int64_t v) { s.repeat = v; });
  });
}

// Makes one tensor contiguous, or one knob its default, in all calls at once.
rc::Seq<Plan> plain_tensor(const OriginPtr& origin) {
  return rc::seq::mapcat(rc::seq::fromContainer(origin->space.spec().tensors),
                         [origin](const TensorSpec& tensor) {
                           return in_all_calls(origin, [&](CallStep& step) {
                             step.call.layouts.erase(tensor.name);
                             return true;
                           });
                         });
}
rc::Seq<Plan> plain_knob(const OriginPtr& origin) {
  return rc::seq::mapcat(rc::seq::fromContainer(origin->space.spec().knobs),
                         [origin](const KnobSpec& knob) {
                           return in_all_calls(origin, [&](CallStep& step) {
                             step.call.config.insert_or_assign(knob.name, knob.values.front());
                             return true;
                           });
                         });
}

// Smaller values of `elems`, down to 0, as multiples of `granule`.
std::vector<std::int64_t> fewer_elems(std::int64_t elems, std::int64_t granule) {
  auto values = descending_choices(elems / granule, 0, std::max<std::int64_t>(16 / granule, 1));
  for (auto& v : values) v *= granule;
  return values;
}

std::vector<Layout> plainer_values(const Layout& layout, std::int64_t granule) {
  std::vector<Layout> out = {Layout{}};
  auto add = [&](auto change) {
    Layout l = layout;
    change(l);
    out.push_back(l);
  };
  if (layout.transposed) add([](Layout& l) { l.transposed = false; });
  if (layout.hnd) add([](Layout& l) { l.hnd = false; });
  if (layout.broadcast_dim != -1) add([](Layout& l) { l.broadcast_dim = -1; });
  if (layout.reversed_dim != -1) add([](Layout& l) { l.reversed_dim = -1; });
  for (std::int64_t d = 0; d < layout.broadcast_dim; ++d)
    add([&](Layout& l) { l.broadcast_dim = d; });
  for (std::int64_t d = 0; d < layout.reversed_dim; ++d)
    add([&](Layout& l) { l.reversed_dim = d; });
  for (auto v : fewer_elems(layout.slice_elems, granule))
    add([&](Layout& l) { l.slice_elems = v; });
  for (auto v : fewer_elems(layout.row_padding_elems, granule))
    add([&](Layout& l) { l.row_padding_elems = v; });
  for (auto v : fewer_elems(layout.offset_elems, granule))
    add([&](Layout& l) { l.offset_elems = v; });
  if (layout.unit_stride) {
    add([](Layout& l) { l.unit_stride.reset(); });
    const auto rank = unit_stride_rank(layout.unit_stride);
    auto smaller = descending_choices(std::max<std::int64_t>(*layout.unit_stride, 0), 2, 16);
    smaller.insert(smaller.begin(), {1, 0, -1});
    for (auto v : smaller)
      if (unit_stride_rank(v) < rank) add([&](Layout& l) { l.unit_stride = v; });
  }
  return out;
}

std::int64_t granule_of(const TargetSpec& spec, std::string_view tensor) {
  const auto it = std::find_if(spec.tensors.begin(), spec.tensors.end(),
                               [&](const TensorSpec& t) { return t.name == tensor; });
  return it->layouts.granule_elems;  // a valid plan names only tensors of the spec
}

rc::Seq<Plan> plainer_layouts(const OriginPtr& origin) {
  return in_one_call(origin, [origin](const CallStep& step) {
    using Named = std::pair<const std::string, Layout>;
    return rc::seq::mapcat(
        rc::seq::fromContainer(step.call.layouts), [step, origin](const Named& named) {
          return each_value(
              step, plainer_values(named.second, granule_of(origin->space.spec(), named.first)),
              [name = named.first](CallStep& s, const Layout& l) {
                if (l.contiguous())
                  s.call.layouts.erase(name);
                else
                  s.call.layouts.insert_or_assign(name, l);
              });
        });
  });
}

rc::Seq<Plan> plainer_knobs(const OriginPtr& origin) {
  return in_one_call(origin, [origin](const CallStep& step) {
    return rc::seq::mapcat(
        rc::seq::fromContainer(origin->space.spec().knobs), [step](const KnobSpec& knob) {
          const auto& value = step.call.config.find(knob.name)->second;
          const auto at = std::find(knob.values.begin(), knob.values.end(), value);
          return each_value(step, std::vector<Value>(knob.values.begin(), at),
                            [name = knob.name](CallStep& s, const Value& v) {
                              s.call.config.insert_or_assign(name, v);
                            });
        });
  });
}

rc::Seq<Plan> plain_seed(const OriginPtr& origin) {
  return in_one_call(origin, [seeds = small_seeds(origin->plan)](const CallStep& step) {
    return each_value(step, seeds, [](CallStep& s, std::uint64_t v) { s.call.seed = v; });
  });
}

rc::Seq<Plan> one_stream(const OriginPtr& origin) {
  Plan plan = origin->plan;
  std::erase_if(plan.steps, [](const Step& s) { return std::holds_alternative<WaitStep>(s); });
  for (auto& step : plan.steps)
    if (auto* call = std::get_if<CallStep>(&step))
      call->stream = 0;
    else if (auto* replay = std::get_if<ReplayStep>(&step))
      replay->stream = 0;
  return rc::seq::just(std::move(plan));
}

// Numbers streams in the order of their first use.
rc::Seq<Plan> renamed_streams(const OriginPtr& origin) {
  Plan plan = origin->plan;
  std::map<std::int64_t, std::int64_t> names;
  const auto rename = [&](std::int64_t& stream) {
    stream = names.emplace(stream, static_cast<std::int64_t>(names.size())).first->second;
  };
  for (auto& step : plan.steps) {
    if (auto* call = std::get_if<CallStep>(&step)) rename(call->stream);
    if (auto* replay = std::get_if<ReplayStep>(&step)) rename(replay->stream);
    if (auto* wait = std::get_if<WaitStep>(&step)) {
      rename(wait->stream);
      rename(wait->on);
    }
  }
  return rc::seq::just(std::move(plan));
}

rc::Seq<Plan> lower_streams(const OriginPtr& origin) {
  return in_one_call(origin, [](const CallStep& step) {
    return rc::seq::map(rc::shrink::towards<std::int64_t>(step.stream, 0),
                        [step](std::int64_t stream) {
                          CallStep changed = step;
                          changed.stream = stream;
                          return changed;
                        });
  });
}

rc::Seq<Plan> plainer_mode(const OriginPtr& origin) {
  std::vector<Mode> modes;
  for (const auto& axis : all_mode_axes())
    if (axis.plainer != nullptr)
      for (auto& mode : axis.plainer(origin->plan.mode)) modes.push_back(mode);
  return rc::seq::map(rc::seq::fromContainer(std::move(modes)), [origin](const Mode& mode) {
    Plan plan = origin->plan;
    plan.mode = mode;
    return plan;
  });
}

}  // namespace

std::vector<Stage> detail_stages() {
  return {one_stream,    fewer_repeats, plain_tensor,    plain_knob,    plainer_layouts,
          plainer_knobs, plain_seed,    renamed_streams, lower_streams, plainer_mode};
}

}  // namespace redzone::generators
