#include "cli/commands.h"

namespace redzone::cli {

std::vector<std::unique_ptr<Command>> all_commands() {
  std::vector<std::unique_ptr<Command>> all;
  all.push_back(make_doctor());
  all.push_back(make_targets());
  all.push_back(make_run());
  all.push_back(make_findings());
  all.push_back(make_show());
  all.push_back(make_replay());
  all.push_back(make_reduce());
  all.push_back(make_bisect());
  all.push_back(make_explain());
  all.push_back(make_export());
  all.push_back(make_import());
  all.push_back(make_nightly());
  all.push_back(make_fleet());
  all.push_back(make_report());
  all.push_back(make_mark());
  all.push_back(make_merge());
  all.push_back(make_db());
  all.push_back(make_tma());
  all.push_back(make_guard());
  all.push_back(make_bench());
  all.push_back(make_bench_bare());
  all.push_back(make_planted_overrun());
  all.push_back(make_worker());
  all.push_back(make_sanitized_worker());
  return all;
}

}  // namespace redzone::cli
