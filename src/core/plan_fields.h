// Field tables of plans and trials, for sending. Plans are stored as text (plan_text.h); the mode
// of a trial is stored in one column per named field.
#pragma once

#include "core/field_table.h"
#include "core/plan.h"
#include "core/trial.h"

namespace redzone {

constexpr auto field_table(std::type_identity<Layout>) {
  return sent_fields(&Layout::row_padding_elems, &Layout::transposed, &Layout::offset_elems,
                     &Layout::unit_stride, &Layout::hnd, &Layout::slice_elems,
                     &Layout::broadcast_dim, &Layout::reversed_dim);
}
constexpr auto field_table(std::type_identity<PoolPolicy>) {
  return fields<PoolPolicy>(field("pool_follow_events", &PoolPolicy::follow_event_dependencies),
                            field("pool_opportunistic", &PoolPolicy::allow_opportunistic),
                            field("pool_internal", &PoolPolicy::allow_internal_dependencies),
                            field("pool_threshold_bytes", &PoolPolicy::release_threshold_bytes));
}
constexpr auto field_table(std::type_identity<Mode>) {
  return fields<Mode>(field("launch", &Mode::launch), field("allocator", &Mode::allocator),
                      field("placement", &Mode::placement), field("poison", &Mode::poison),
                      field("schedule_seed", &Mode::schedule_seed),
                      field("sanitizer", &Mode::sanitizer), field("pool", &Mode::pool),
                      field("alignment", &Mode::alignment), field("callers", &Mode::callers),
                      field("addresses", &Mode::addresses), field("stack", &Mode::stack));
}
constexpr auto field_table(std::type_identity<Call>) {
  return sent_fields(&Call::dims, &Call::config, &Call::layouts, &Call::seed);
}
constexpr auto field_table(std::type_identity<CallStep>) {
  return sent_fields(&CallStep::call, &CallStep::repeat, &CallStep::stream, &CallStep::graph);
}
constexpr auto field_table(std::type_identity<SyncStep>) {
  return sent_fields<SyncStep>();
}
constexpr auto field_table(std::type_identity<WaitStep>) {
  return sent_fields(&WaitStep::stream, &WaitStep::on);
}
constexpr auto field_table(std::type_identity<ReplayStep>) {
  return sent_fields(&ReplayStep::graph, &ReplayStep::repeat, &ReplayStep::stream);
}
constexpr auto field_table(std::type_identity<Plan>) {
  return sent_fields(&Plan::target, &Plan::mode, &Plan::steps);
}
constexpr auto field_table(std::type_identity<Direction>) {
  return sent_fields(&Direction::first, &Direction::second, &Direction::second_first);
}
constexpr auto field_table(std::type_identity<TrialSpec>) {
  return sent_fields(&TrialSpec::mode, &TrialSpec::order, &TrialSpec::reference,
                     &TrialSpec::plain_graphs, &TrialSpec::left_out, &TrialSpec::samples,
                     &TrialSpec::wide_canaries, &TrialSpec::records_order, &TrialSpec::direction);
}

}  // namespace redzone
