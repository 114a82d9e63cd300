#include "generators/every_call.h"

#include <fmt/format.h>

#include <algorithm>

namespace redzone::generators {
namespace {

std::size_t choices(const DimSpec& dim) {
  return static_cast<std::size_t>(rank_of(dim, largest(dim))) + 1;
}

std::int64_t value_of_rank(const DimSpec& dim, std::size_t rank) {
  if (!dim.values.empty()) return dim.values[rank];
  return smallest(dim) + static_cast<std::int64_t>(rank) * dim.multiple_of;
}

}  // namespace

EveryCall::EveryCall(const Space& space) : space_(&space) {}

std::optional<std::size_t> EveryCall::count(std::size_t most) const {
  std::size_t count = 1;
  const auto times = [&](std::size_t factor) {
    return !__builtin_mul_overflow(count, factor, &count) && count <= most;
  };
  for (std::size_t d = 0; d < space_->size(); ++d)
    if (!times(choices(space_->dim(d)))) return std::nullopt;
  for (const auto& knob : space_->spec().knobs)
    if (!times(knob.draws())) return std::nullopt;
  return count;
}

Call EveryCall::at(std::size_t index) const {
  Call call;
  Point point(space_->size());
  for (std::size_t d = space_->size(); d-- > 0; index /= choices(space_->dim(d)))
    point[d] = value_of_rank(space_->dim(d), index % choices(space_->dim(d)));
  call.dims = space_->dims(point);
  for (const auto& knob : space_->spec().knobs) {
    call.config.emplace(knob.name, knob.values[index % knob.draws()]);
    index /= knob.draws();
  }
  return call;
}

void Rejections::add(const Constraint* constraint) {
  if (constraint != nullptr) ++counts_[constraint->text];
}

std::string Rejections::text() const {
  const auto most =
      std::max_element(counts_.begin(), counts_.end(),
                       [](const auto& a, const auto& b) { return a.second < b.second; });
  if (most == counts_.end()) return "";
  return fmt::format("; constraint '{}' rejects {} of them", most->first, most->second);
}

}  // namespace redzone::generators
