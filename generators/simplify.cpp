#include "generators/simplify.h"

#include <rapidcheck/Seq.h>

#include <set>

#include "core/validate.h"
#include "generators/internal/complexity.h"
#include "generators/internal/simplify_seq.h"
#include "generators/internal/stages.h"

namespace redzone::generators {
namespace {

std::vector<Stage> all_stages() {
  std::vector<Stage> stages = step_stages();
  for (auto* more : {&graph_stages, &sweeping_stages, &dim_stages, &detail_stages, &split_stages})
    for (auto& stage : more()) stages.push_back(std::move(stage));
  return stages;
}

// Iterates over the stages and returns the candidates that are valid, simpler and new.
class Candidates {
 public:
  Candidates(const Plan& plan, const TargetSpec& spec)
      : origin_(std::make_shared<Origin>(Origin{plan, Space(spec)})),
        stages_(std::make_shared<std::vector<Stage>>(all_stages())),
        complexity_(complexity_of(plan, origin_->space)) {}

  rc::Maybe<Plan> operator()() {
    while (true) {
      auto candidate = current_.next();
      if (candidate) {
        if (wanted(*candidate)) return candidate;
        continue;
      }
      if (stage_ == stages_->size()) return rc::Nothing;
      current_ = (*stages_)[stage_++](origin_);
    }
  }

 private:
  bool wanted(const Plan& candidate) {
    if (!validate(candidate, origin_->space.spec())) return false;
    if (!(complexity_of(candidate, origin_->space) < complexity_)) return false;
    return seen_.insert(plan_hash(candidate)).second;
  }

  OriginPtr origin_;
  std::shared_ptr<const std::vector<Stage>> stages_;
  Complexity complexity_;
  std::size_t stage_ = 0;
  rc::Seq<Plan> current_;
  std::set<std::string> seen_;
};

}  // namespace

rc::Seq<Plan> simplify_seq(const Plan& plan, const TargetSpec& spec) {
  return rc::makeSeq<Candidates>(plan, spec);
}

bool simpler(const Plan& a, const Plan& b, const TargetSpec& spec) {
  const Space space(spec);
  return complexity_of(a, space) < complexity_of(b, space);
}

class Simplifications::Sequence {
 public:
  explicit Sequence(rc::Seq<Plan> seq) : seq_(std::move(seq)) {}
  std::optional<Plan> next() {
    auto plan = seq_.next();
    return plan ? std::optional<Plan>(std::move(*plan)) : std::nullopt;
  }

 private:
  rc::Seq<Plan> seq_;
};

Simplifications::Simplifications(std::unique_ptr<Sequence> sequence)
    : sequence_(std::move(sequence)) {}
Simplifications::Simplifications(Simplifications&&) noexcept = default;
Simplifications& Simplifications::operator=(Simplifications&&) noexcept = default;
Simplifications::~Simplifications() = default;

std::optional<Plan> Simplifications::next() {
  return sequence_->next();
}

Simplifications simplify(const Plan& plan, const TargetSpec& spec) {
  return Simplifications(std::make_unique<Simplifications::Sequence>(simplify_seq(plan, spec)));
}

std::vector<Plan> all_simplifications(const Plan& plan, const TargetSpec& spec) {
  std::vector<Plan> plans;
  Simplifications candidates = simplify(plan, spec);
  while (auto candidate = candidates.next()) plans.push_back(std::move(*candidate));
  return plans;
}

}  // namespace redzone::generators
