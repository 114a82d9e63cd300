#include "trial/reference_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <new>
#include <optional>
#include <stdexcept>

#include "core/spec_mistake.h"
#include "core/tolerance.h"
#include "trial/compare_values.h"
#include "trial/reference_sample.h"
#include "trial/reference_values.h"

namespace redzone::trial {
namespace {

// Capacity for remembered expected values: 16 MiB. A reference that took less time than
// kWorthRememberingUs is run again instead, because remembering costs a few microseconds, too.
constexpr std::size_t kRememberedElems = 2 << 20;
constexpr std::uint64_t kWorthRememberingUs = 100;

bool are_equal(const CallUnit& a, const CallUnit& b) {
  const Call& left = *a.item->call;
  const Call& right = *b.item->call;
  return &left == &right || (left.seed == right.seed && left == right);
}

using Clock = std::chrono::steady_clock;

// At least 1.
std::uint64_t microseconds_since(Clock::time_point begun) {
  const auto us = std::chrono::duration_cast<std::chrono::microseconds>(Clock::now() - begun);
  return std::max<std::uint64_t>(static_cast<std::uint64_t>(us.count()), 1);
}

void show_call(TrialState& state, const CallUnit& unit) {
  if (state.box != nullptr) state.box->call_compared = unit.item->index;
  state.show_progress();
}

// Calls a function of the target. If it throws, ends the trial and returns false.
template <class Function>
bool returns(TrialState& state, const TargetSpec& spec, const CallUnit& unit, const char* name,
             Function function) {
  const auto thrown = [&](const std::string& what) {
    state.session.stop(End::spec_error,
                       fmt::format("target '{}': {}() threw {}", spec.name, name, what));
    return false;
  };
  try {
    function();
  } catch (const std::bad_alloc&) {
    state.session.stop(End::worker_error,
                       fmt::format("target '{}': no memory for the reference of call {}", spec.name,
                                   unit.item->index + 1));
    return false;
  } catch (const SpecMistake& e) {  // its message has more detail than thrown()
    state.session.stop(End::spec_error, e.what());
    return false;
  } catch (const std::exception& e) {
    return thrown(fmt::format("\"{}\"", e.what()));
  } catch (...) {
    return thrown("something that is not a std::exception");
  }
  return true;
}

}  // namespace

class ReferenceCheck::Values final : public ReferenceCall {
 public:
  Values(const CallUnit& unit, ReferenceCheck& check) : unit_(unit), check_(check) {}

  const Dims& dims() const override { return unit_.item->call->dims; }
  const Config& config() const override { return unit_.item->call->config; }
  std::span<const double> input(std::string_view name) const override {
    const std::size_t i = index_of(name);
    if (unit_.tensors[i].role == Role::out)
      throw SpecError(fmt::format("tensor '{}' is not an input", name));
    return check_.inputs_[i];
  }
  std::span<double> output(std::string_view name) override {
    const std::size_t i = index_of(name);
    if (unit_.tensors[i].role == Role::in)
      throw SpecError(fmt::format("tensor '{}' is not an output", name));
    return check_.outputs_[i];
  }

 private:
  std::size_t index_of(std::string_view name) const {
    for (std::size_t i = 0; i < unit_.tensors.size(); ++i)
      if (unit_.tensors[i].spec->name == name) return i;
    throw SpecError(fmt::format("no tensor '{}'", name));
  }

  const CallUnit& unit_;
  ReferenceCheck& check_;
};

ReferenceCheck::ReferenceCheck() : memory_(kRememberedElems) {}

std::size_t reference_bytes(const CallUnit& unit) {
  std::size_t values = 0, largest = 0;
  for (const auto& tensor : unit.tensors) {
    const std::size_t of_tensor = count_values(tensor);
    values += tensor.role == Role::inout ? 2 * of_tensor : of_tensor;
    largest = std::max(largest, of_tensor);
  }
  return (values + 2 * largest) * sizeof(double);  // one copy in memory order, one as it is read
}

void ReferenceCheck::make_inputs(const CallUnit& unit) {
  inputs_.resize(unit.tensors.size());
  outputs_.resize(unit.tensors.size());
  for (std::size_t i = 0; i < unit.tensors.size(); ++i) {
    const TensorBuffer& tensor = unit.tensors[i];
    std::vector<double>& input = inputs_[i];
    if (tensor.role == Role::out) {
      outputs_[i].assign(count_values(tensor), 0.0);
      continue;
    }
    const auto numel = static_cast<std::size_t>(tensor.job.numel);
    if (is_row_major(tensor.view)) {
      input.resize(numel);
      make_values(tensor, 0, tensor.job.numel, input.data());
    } else {
      in_memory_order_.resize(numel);
      make_values(tensor, 0, tensor.job.numel, in_memory_order_.data());
      put_in_order(tensor, in_memory_order_.data(), input);
    }
    if (tensor.role == Role::inout) outputs_[i] = input;
  }
}

bool ReferenceCheck::run_reference(TrialState& state, const Target& target, const TargetSpec& spec,
                                   const CallUnit& unit, std::uint64_t& function_us) {
  make_inputs(unit);
  Values call(unit, *this);
  return returns(state, spec, unit, "reference", [&] {
    const auto begun = Clock::now();
    target.reference(call);
    function_us = microseconds_since(begun);
  });
}

// Compares the values that were read from an output.
ReferenceObservation ReferenceCheck::compare_found(const TensorBuffer& tensor,
                                                   const TargetSpec& spec, const Call& call,
                                                   const std::vector<double>& found,
                                                   const std::vector<double>& expected) const {
  const auto compare_all =
      reals_per_element(tensor.dtype) == 1 ? &compare_values : &compare_complex_values;
  return compare_all(tensor.spec->name, found, expected,
                     tolerance_of(*tensor.spec, tensor.dtype, spec, call.config));
}

bool ReferenceCheck::compare_outputs(TrialState& state, const TargetSpec& spec,
                                     const CallUnit& unit, const ExpectedOutputs& expected,
                                     const FetchedOutputs& fetched) {
  auto& references = state.of_call(unit.item->index).references;
  for (std::size_t i = 0; i < unit.tensors.size(); ++i) {
    const TensorBuffer& tensor = unit.tensors[i];
    if (tensor.role == Role::in) continue;
    const auto* found = reader_.read(state.session, tensor, fetched.of(tensor));
    if (found == nullptr) return false;
    references.push_back(compare_found(tensor, spec, *unit.item->call, *found, expected[i]));
  }
  return true;
}

void ReferenceCheck::compare(TrialState& state, const Target& target, const TargetSpec& spec,
                             std::span<const CallUnit* const> units,
                             const FetchedOutputs& fetched) {
  std::vector<bool> done(units.size());
  for (std::size_t i = 0; i < units.size(); ++i) {
    if (done[i]) continue;
    const auto begun = Clock::now();
    show_call(state, *units[i]);
    const Call& call = *units[i]->item->call;
    const ExpectedOutputs* expected = memory_.find(spec.name, call, false);
    const bool known = expected != nullptr;
    std::uint64_t function_us = 0;
    bool going = known || run_reference(state, target, spec, *units[i], function_us);
    if (!known) expected = &outputs_;
    for (std::size_t k = i; going && k < units.size(); ++k) {
      if (done[k] || !are_equal(*units[i], *units[k])) continue;
      done[k] = true;
      going = compare_outputs(state, spec, *units[k], *expected, fetched);
    }
    if (!known) {
      state.of_call(units[i]->item->index).reference_us = microseconds_since(begun);
      if (going && function_us >= kWorthRememberingUs)
        memory_.keep(spec.name, call, false, outputs_);
    }
    forget_large();
    state.show_progress();
    if (!going) return;
  }
}

bool ReferenceCheck::sample_one(TrialState& state, const Target& target, const TargetSpec& spec,
                                SampledUnit& sampled) {
  const CallUnit& unit = *sampled.unit;
  const auto begun = Clock::now();
  const Call& call = *unit.item->call;
  const ExpectedOutputs* expected = memory_.find(spec.name, call, true);
  const bool known = expected != nullptr;
  std::optional<RowsCall> asked;
  std::uint64_t function_us = 0;
  const bool returned = returns(state, spec, unit, "reference_rows", [&] {
    asked.emplace(unit, spec.sampled_rows);
    if (known) return;
    const auto called = Clock::now();
    target.reference_rows(*asked);
    function_us = microseconds_since(called);
  });
  if (!returned) return false;
  if (!known) expected = &asked->outputs();
  auto& references = state.of_call(unit.item->index).references;
  bool whole = true;
  for (std::size_t i = 0; i < unit.tensors.size(); ++i) {
    const TensorBuffer& tensor = unit.tensors[i];
    if (tensor.role == Role::in) continue;
    const RowsOf& shape = asked->shape_of(i);
    const auto& rows = asked->rows_of(i);
    const auto length = static_cast<std::size_t>(shape.length());
    sample_.resize((*expected)[i].size());
    for (std::size_t r = 0; r < rows.size(); ++r)
      if (!shape.read(state.session, rows[r], sample_.data() + r * length)) return false;
    ReferenceObservation o = compare_found(tensor, spec, call, sample_, (*expected)[i]);
    if (o.mismatches > 0)
      o.first_index = static_cast<std::uint64_t>(rows[o.first_index / length]) * length +
                      o.first_index % length;
    o.of = static_cast<std::uint64_t>(shape.rows()) * length;
    if (o.of == o.numel)
      o.of = 0;
    else
      whole = false;
    references.push_back(std::move(o));
  }
  if (whole) sampled.comparison = Comparison::compared;
  if (known) return true;
  state.of_call(unit.item->index).reference_us = microseconds_since(begun);
  if (function_us >= kWorthRememberingUs) memory_.keep(spec.name, call, true, asked->outputs());
  return true;
}

void ReferenceCheck::sample(TrialState& state, const Target& target, const TargetSpec& spec,
                            std::span<SampledUnit> units) {
  for (SampledUnit& unit : units) {
    show_call(state, *unit.unit);
    const bool going = sample_one(state, target, spec, unit);
    forget_large();
    state.show_progress();
    if (!going) return;
  }
}

void ReferenceCheck::forget_large() {
  for (auto* all : {&inputs_, &outputs_})
    for (auto& values : *all) forget_if_large(values);
  forget_if_large(in_memory_order_);
  forget_if_large(sample_);
  reader_.forget_large();
}

}  // namespace redzone::trial
