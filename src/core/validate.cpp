#include "core/validate.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <vector>

#include "core/names.h"
#include "core/plan_text.h"
#include "core/spec_mistake.h"

namespace redzone {
namespace {

template <class Specs>
std::vector<std::string> names_of(const Specs& specs) {
  std::vector<std::string> names;
  names.reserve(specs.size());
  for (const auto& s : specs) names.push_back(s.name);
  return names;
}

template <class Map, class Specs>
Result<void> check_names(const Map& given, const Specs& specs, std::string_view what, bool all) {
  const auto names = names_of(specs);
  for (const auto& [name, value] : given)
    if (std::find(names.begin(), names.end(), name) == names.end())
      return usage_error(fmt::format("unknown {} '{}'{} ({}s: {})", what, name,
                                     did_you_mean(name, names), what, fmt::join(names, ", ")));
  if (all)
    for (const auto& name : names)
      if (given.find(name) == given.end())
        return usage_error(fmt::format("{} '{}' is missing", what, name));
  return {};
}

std::string describe(const DimSpec& dim) {
  if (!dim.values.empty()) return fmt::format("one of {}", fmt::join(dim.values, ", "));
  std::string text = fmt::format("in {}..{}", dim.min, dim.max);
  if (dim.multiple_of > 1) text += fmt::format(" and a multiple of {}", dim.multiple_of);
  return text;
}

bool holds(const Constraint& c, const Call& call) {
  switch (c.kind) {
    case Constraint::Kind::divides: {
      const auto a = get(call.dims, c.a);
      return a != 0 && get(call.dims, c.b) % a == 0;
    }
    case Constraint::Kind::at_most:
      return get(call.dims, c.a) <= get(call.dims, c.b);
    case Constraint::Kind::predicate:
      return c.holds(call.dims, call.config);
  }
  return false;
}

// Checks the graphs of a plan: each must be captured in one piece, on streams that are connected by
// waits, before its first replay, and must be replayed.
class GraphCheck {
 public:
  explicit GraphCheck(const TargetSpec& spec) : spec_(spec) {}

  // The problem with this step, or "".
  std::string operator()(const CallStep& step) {
    if (step.graph != open_) close();
    if (step.graph == 0) return "";
    if (step.graph < 0 || step.graph > kMaxGraphs)
      return fmt::format("graph {}: must be in 1..{}", step.graph, kMaxGraphs);
    if (!spec_.capturable)
      return fmt::format("graph {}: calls of '{}' cannot be captured", step.graph, spec_.name);
    if (open_ == 0) {
      if (seen_[index(step.graph)].captured)
        return fmt::format("graph {} is already captured: it can be captured only once",
                           step.graph);
      seen_[index(step.graph)].captured = true;
      open_ = step.graph;
      streams_ = bit(step.stream);
    }
    for (const auto& wait : waits_) {
      if ((streams_ & bit(wait.on)) == 0)
        return fmt::format("graph {}: stream {} waits for stream {}, which is not part of it",
                           step.graph, wait.stream, wait.on);
      streams_ |= bit(wait.stream);
    }
    waits_.clear();
    if ((streams_ & bit(step.stream)) == 0)
      return fmt::format("graph {}: stream {} has not waited for a stream of the graph", step.graph,
                         step.stream);
    return "";
  }
  // Waits after the last call of a body are not part of the body.
  std::string operator()(const WaitStep& step) {
    if (open_ != 0) waits_.push_back(step);
    return "";
  }
  std::string operator()(const SyncStep&) {
    close();
    return "";
  }
  std::string operator()(const ReplayStep& step) {
    close();
    if (step.graph < 1 || step.graph > kMaxGraphs)
      return fmt::format("graph {}: must be in 1..{}", step.graph, kMaxGraphs);
    if (!seen_[index(step.graph)].captured)
      return fmt::format("graph {} is replayed before it is captured", step.graph);
    seen_[index(step.graph)].replayed = true;
    return "";
  }
  std::string at_end() const {
    for (std::size_t i = 0; i < seen_.size(); ++i)
      if (seen_[i].captured && !seen_[i].replayed)
        return fmt::format("graph {} is captured and never replayed", i + 1);
    return "";
  }

 private:
  struct Seen {
    bool captured = false, replayed = false;
  };
  static std::size_t index(std::int64_t graph) { return static_cast<std::size_t>(graph - 1); }
  static std::uint64_t bit(std::int64_t stream) { return std::uint64_t{1} << stream; }
  void close() {
    open_ = 0;
    waits_.clear();
  }

  const TargetSpec& spec_;
  std::array<Seen, kMaxGraphs> seen_ = {};
  std::int64_t open_ = 0;        // the graph whose body contains the last call; 0: none
  std::uint64_t streams_ = 0;    // bit mask of the streams of that body
  std::vector<WaitStep> waits_;  // waits since the last call of that body
};

// Checks streams and repeats. Parsing a text checks them too, but a plan need not come from a text.
std::string schedule_problem(const Step& step) {
  const auto stream = [](std::int64_t s) {
    return s >= 0 && s < kMaxStreams
               ? std::string()
               : fmt::format("stream {}: must be in 0..{}", s, kMaxStreams - 1);
  };
  const auto enqueued = [&](std::int64_t s, std::int64_t repeat) {
    if (repeat < 1 || repeat > kMaxRepeat)
      return fmt::format("repeat {}: must be in 1..{}", repeat, kMaxRepeat);
    return stream(s);
  };
  if (const auto* call = std::get_if<CallStep>(&step)) return enqueued(call->stream, call->repeat);
  if (const auto* replay = std::get_if<ReplayStep>(&step))
    return enqueued(replay->stream, replay->repeat);
  if (const auto* wait = std::get_if<WaitStep>(&step)) {
    auto problem = stream(wait->stream);
    return problem.empty() ? stream(wait->on) : problem;
  }
  return "";
}

}  // namespace

bool allows(const DimSpec& dim, std::int64_t value) {
  if (!dim.values.empty())
    return std::find(dim.values.begin(), dim.values.end(), value) != dim.values.end();
  return value >= dim.min && value <= dim.max && value % dim.multiple_of == 0;
}

namespace {

// Throws the exceptions of the spec's functions.
Result<void> check_call(const Call& call, const TargetSpec& spec) {
  RZ_TRY(check_names(call.dims, spec.dims, "dim", true));
  RZ_TRY(check_names(call.config, spec.knobs, "knob", true));
  RZ_TRY(check_names(call.layouts, spec.tensors, "tensor", false));
  for (const auto& dim : spec.dims) {
    const auto value = get(call.dims, dim.name);
    if (!allows(dim, value))
      return usage_error(fmt::format("{} = {}: must be {}", dim.name, value, describe(dim)));
  }
  for (const auto& knob : spec.knobs) {
    const auto& value = call.config.find(knob.name)->second;
    if (std::find(knob.values.begin(), knob.values.end(), value) != knob.values.end()) continue;
    std::vector<std::string> allowed;
    for (const auto& v : knob.values) allowed.push_back(print_value(v));
    return usage_error(fmt::format("{} = {}: must be one of {}", knob.name, print_value(value),
                                   fmt::join(allowed, ", ")));
  }
  for (const auto& c : spec.constraints)
    if (!holds(c, call)) return usage_error(c.text);
  for (const auto& tensor : spec.tensors) {
    const Layout& layout = call.layout(tensor.name);
    const Shape shape = tensor.shape_for(call.dims, call.config);
    if (auto why = layout_violation(shape, layout, tensor.layouts))
      return usage_error(fmt::format("tensor '{}': {}", tensor.name, *why));
    if (auto view = make_view(shape, layout); !view)
      return usage_error(fmt::format("tensor '{}': {}", tensor.name, view.error().message));
  }
  try_functions(spec, call.dims, call.config);
  return {};
}

}  // namespace

Result<void> validate_call(const Call& call, const TargetSpec& spec) {
  try {
    return check_call(call, spec);
  } catch (const SpecError& e) {
    return usage_error(e.what());
  }
}

Result<void> validate(const Plan& plan, const TargetSpec& spec, std::string_view where) {
  if (plan.target != spec.name)
    return usage_error(fmt::format("{}: target is '{}', not '{}'", where, plan.target, spec.name));
  std::size_t index = 0;
  GraphCheck graphs(spec);
  for (const auto& step : plan.steps) {
    ++index;
    std::string problem = schedule_problem(step);
    if (problem.empty()) problem = std::visit(graphs, step);
    if (!problem.empty()) return usage_error(fmt::format("{}: step {}: {}", where, index, problem));
    const auto* call = std::get_if<CallStep>(&step);
    if (call == nullptr) continue;
    if (auto r = validate_call(call->call, spec); !r)
      return usage_error(fmt::format("{}: step {}: {}", where, index, r.error().message));
  }
  if (calls_of(plan).empty()) return usage_error(fmt::format("{}: makes no call", where));
  // The worker stores a few hundred bytes per call.
  constexpr std::int64_t kMostCalls = std::int64_t{1} << 18;
  if (const auto calls = call_count(plan); calls > kMostCalls)
    return usage_error(fmt::format("{}: makes {} calls with its repeats, at most {} are possible",
                                   where, calls, kMostCalls));
  if (const auto problem = graphs.at_end(); !problem.empty())
    return usage_error(fmt::format("{}: {}", where, problem));
  return {};
}

void complete(Plan& plan, const TargetSpec& spec) {
  for (auto& step : plan.steps) {
    auto* call = std::get_if<CallStep>(&step);
    if (call == nullptr) continue;
    for (const auto& knob : spec.knobs)
      call->call.config.try_emplace(knob.name, knob.values.front());
    for (const auto& dim : spec.dims) {
      if (dim.values.size() == 1) call->call.dims.try_emplace(dim.name, dim.values.front());
      if (dim.values.empty() && dim.min == dim.max) call->call.dims.try_emplace(dim.name, dim.min);
    }
  }
}

}  // namespace redzone
