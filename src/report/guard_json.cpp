#include "core/terminal.h"
#include "guard/names.h"
#include "report/guard.h"
#include "report/guard_launches.h"
#include "report/json_parts.h"

namespace redzone::report {
namespace {

using guard::Counter;

Json frames(const std::vector<guard::Frame>& all) {
  Json out = Json::array();
  for (const auto& f : all)
    out.push_back({{"address", hex(f.address)},
                   {"module", printable(f.module)},
                   {"offset", hex(f.offset)},
                   {"function", printable(f.function)}});
  return out;
}

Json python_lines(const std::vector<guard::PythonFrame>& all) {
  Json out = Json::array();
  for (const auto& l : all)
    out.push_back(
        {{"file", printable(l.file)}, {"line", l.line}, {"function", printable(l.function)}});
  return out;
}

Json guard_finding(const guard::DistinctFinding& distinct) {
  const guard::Finding& f = distinct.first;
  return {{"signature", printable(guard::signature(f))},
          {"kind", name_of(f.kind)},
          {"memory", f.on_device ? "device" : "host"},
          {"access", name_of(f.access)},
          {"side", name_of(f.side)},
          {"distance", f.distance_bytes},
          {"code", f.code},
          {"address", hex(f.address)},
          {"wrong_bytes", f.wrong_bytes},
          {"call", printable(f.call)},
          {"pid", distinct.pid},
          {"thread", f.thread},
          {"times", distinct.times},
          {"block", block_json(f.block)},
          {"kernel", printable(f.kernel)},
          {"exception", printable(f.exception)},
          {"location", printable(f.location)},
          {"instruction", printable(f.instruction)},
          {"launch", launch_json(f.launch)},
          {"launches_since_right", f.launches_since_right},
          {"where", frames(f.where)},
          {"allocated", frames(f.allocated)},
          {"freed", frames(f.freed)},
          {"python_where", python_lines(f.python_where)},
          {"python_allocated", python_lines(f.python_allocated)},
          {"python_freed", python_lines(f.python_freed)}};
}

// The counters that are not 0, read with `count`.
template <class Count>
Json counters(Count count) {
  Json out = Json::object();
  for (std::size_t i = 0; i < interpose::kCounters; ++i) {
    const auto counter = static_cast<Counter>(i);
    if (counter < interpose::kFirstLeftOut && count(counter) != 0)
      out[std::string(guard::key_of(counter))] = count(counter);
  }
  return out;
}

template <class Count>
Json left_out(Count count) {
  Json out = Json::object();
  for (auto i = static_cast<std::size_t>(interpose::kFirstLeftOut); i < interpose::kCounters; ++i) {
    const auto counter = static_cast<Counter>(i);
    if (count(counter) != 0)
      out[std::string(guard::key_of(counter))] = {{"times", count(counter)},
                                                  {"meaning", guard::meaning_of(counter)}};
  }
  return out;
}

Json process(const guard::ProcessRecord& p, const interpose::Settings& settings) {
  const auto count = [&](Counter counter) { return p.count(counter); };
  // Launches of a process that ended without a finding are irrelevant.
  const bool tells = !p.findings.empty() || !p.is(guard::Fact::ended);
  return {{"pid", p.pid},
          {"parent", p.parent},
          {"program", printable(p.program)},
          {"state", name_of(guard::judged(p, settings))},
          {"ended", p.is(guard::Fact::ended)},
          {"findings", p.times_found()},
          {"launches", tells ? launches_json(p.launches) : Json::array()},
          {"unfinished", launches_json(p.unfinished)},
          {"unfinished_lost", p.unfinished_lost},
          {"counters", counters(count)},
          {"left_out", left_out(count)}};
}

Json range(const interpose::BlockRange& blocks) {
  return blocks.is_empty() ? Json(nullptr) : Json({blocks.first, blocks.last});
}

Json settings_json(const interpose::Settings& s) {
  return {{"driver", s.driver},
          {"cpu", s.cpu},
          {"placement",
           s.placement == interpose::Placement::guard_after ? "guard_after" : "guard_before"},
          {"align", s.align_bytes},
          {"poison", s.poison < 0 ? Json(nullptr) : Json(s.poison)},
          {"retire", s.retire == interpose::Retire::all ? "all" : "sample"},
          {"bare", s.bare},
          {"launch", name_of(s.launch)},
          {"seed", s.seed},
          {"check", name_of(s.check)},
          {"on_error", name_of(s.on_error)},
          {"max_memory", s.max_memory_bytes},
          {"min_bytes", s.min_bytes},
          {"kernels", printable(s.kernels)},
          {"only", range(s.only)},
          {"skip", range(s.skip)}};
}

}  // namespace

std::string guard_json(const guard::ProgramRun& run, int exit_code, const GuardStored& stored) {
  const auto count = [&](Counter counter) { return run.count(counter); };
  Json argv = Json::array(), findings = Json::array(), processes = Json::array();
  for (const auto& word : run.started.argv) argv.push_back(printable(word));
  for (const auto& one : run.findings()) findings.push_back(guard_finding(one));
  for (const auto& one : run.processes) processes.push_back(process(one, run.settings));
  const bool attached = run.started.argv.empty();
  const Json out = {{"argv", argv},
                    {"exit_code", attached ? Json(nullptr) : Json(run.ended.exit_code)},
                    {"signal", run.ended.signal == 0 ? Json(nullptr) : Json(run.ended.signal)},
                    {"over_time", run.ended.over_time},
                    {"guard_exit_code", exit_code},
                    {"judged", run.is_judged()},
                    {"processes_to_guard", run.to_guard()},
                    {"processes_not_judged", run.not_judged()},
                    {"settings", settings_json(run.settings)},
                    {"findings", findings},
                    {"processes", processes},
                    {"counters", counters(count)},
                    {"left_out", left_out(count)},
                    {"framework", printable(run.framework)},
                    {"foreign_preload", printable(run.foreign_preload)},
                    {"unreadable_records", run.unreadable},
                    {"stored", guard_stored_json(stored)},
                    {"runs", guard_runs_json(stored)}};
  return print(out);
}

}  // namespace redzone::report
