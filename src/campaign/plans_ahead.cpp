#include "campaign/plans_ahead.h"

#include <algorithm>
#include <utility>

namespace redzone::campaign {

PlansAhead::PlansAhead(std::unique_ptr<PlanSource> source, const TargetSpec& spec,
                       Preparer* preparer)
    : source_(std::move(source)),
      preparer_(preparer),
      depth_(preparer == nullptr ? 0 : preparer->depth(spec)) {}

bool PlansAhead::make_one(std::uint64_t most) {
  if (ahead_.size() >= std::min<std::uint64_t>(depth_, most)) return true;
  if (!ahead_.empty() && ahead_.back().problem) return true;
  Made& made = ahead_.emplace_back();
  try {
    made.plan = source_->next();
  } catch (...) {
    made.problem = std::current_exception();
    made.ready = true;
    return false;
  }
  made.ticket = preparer_->prepare(made.plan);
  return true;
}

bool PlansAhead::ready() {
  if (depth_ == 0) return true;
  if (ahead_.empty()) return false;
  Made& first = ahead_.front();
  first.ready = first.ready || preparer_->done(first.ticket);
  return first.ready;
}

Plan PlansAhead::next() {
  if (depth_ == 0) return source_->next();
  Made first = std::move(ahead_.front());
  ahead_.pop_front();
  if (first.problem) std::rethrow_exception(first.problem);
  return std::move(first.plan);
}

}  // namespace redzone::campaign
