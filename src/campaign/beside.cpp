// Questions about plans that the screen has passed, asked beside it.
#include <memory>
#include <utility>

#include "campaign/evaluator.h"
#include "campaign/history.h"
#include "campaign/lane.h"

namespace redzone::campaign {

void Campaign::ask_beside(Lane& lane, const Oracle& oracle, Plan plan, exec::Reuse reuse,
                          std::function<void(std::chrono::microseconds)> pay) {
  const auto asked = std::make_shared<Plan>(std::move(plan));
  const auto answer = std::make_shared<Answer>();
  const auto is_over = [this, &lane] { return is_over_for(lane); };
  Tasks::Task task;
  task.body = [this, &lane, &oracle, reuse, asked, answer, is_over](exec::Runner& runner) {
    Evaluator evaluator(runner, *lane.target.spec, options_.deadline, is_over);
    evaluator.set_reuse(reuse);
    try {
      *answer = evaluator.ask(oracle, *asked);
    } catch (const SpecCallsEnded&) {  // no time is left for it
    }
  };
  // Most such plans show nothing, so where workers are scarce they come behind the confirmations.
  const Station stage = options_.screen_leaves_room ? Station::refine : Station::confirm;
  task.rank = [this, &lane, stage, order = ++visits_] {
    return Tasks::Rank{.stage = static_cast<int>(stage), .due = had(lane), .order = order};
  };
  task.ran = [this, pay = std::move(pay)](auto jobs, auto results) { pay(cost_of(jobs, results)); };
  task.ended = [this, &lane, asked, answer] {
    if (!answer->verdict.failed()) return;
    TrialSpec as_written;
    as_written.mode = asked->mode;
    suspects_aside_.push_back(
        {lane.index, {std::move(*asked), std::move(answer->verdict), {as_written}, {}, 0}});
  };
  tasks_.add(std::move(task));
}

// The two trials of the screen share a worker, so what the first call of the process has fixed is
// the same in both.
void Campaign::look_afresh(Lane& lane, const Pending& pending) {
  constexpr double kOneIn = 32;  // of the target's time
  const Oracle* const history = catalog_.find("history");
  if (history == nullptr || lane.target.spec->has_reference || options_.screen_leaves_room) return;
  if (lane.looking_afresh || lane.afresh_us * kOneIn > lane.spent_us) return;
  Plan plan = as_run(pending.plan, pending.trials[0]);
  if (history->expand(plan, *lane.target.spec).empty()) return;
  lane.looking_afresh = true;
  ask_beside(lane, *history, std::move(plan), exec::Reuse::none, [this, &lane](auto cost) {
    lane.looking_afresh = false;
    lane.afresh_us += static_cast<double>(cost.count());
    charge(lane, cost);
  });
}

}  // namespace redzone::campaign
