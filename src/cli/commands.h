// The commands; each is in cmd_<name>.cpp. A new command is added here and in commands.cpp.
#pragma once

#include "cli/command.h"

namespace redzone::cli {

std::unique_ptr<Command> make_doctor();
std::unique_ptr<Command> make_targets();
std::unique_ptr<Command> make_run();
std::unique_ptr<Command> make_findings();
std::unique_ptr<Command> make_show();
std::unique_ptr<Command> make_replay();
std::unique_ptr<Command> make_reduce();
std::unique_ptr<Command> make_bisect();
std::unique_ptr<Command> make_explain();
std::unique_ptr<Command> make_export();
std::unique_ptr<Command> make_import();
std::unique_ptr<Command> make_nightly();
std::unique_ptr<Command> make_fleet();
std::unique_ptr<Command> make_report();
std::unique_ptr<Command> make_mark();
std::unique_ptr<Command> make_merge();
std::unique_ptr<Command> make_db();
std::unique_ptr<Command> make_tma();
std::unique_ptr<Command> make_guard();
std::unique_ptr<Command> make_bench();
std::unique_ptr<Command> make_bench_bare();
std::unique_ptr<Command> make_planted_overrun();
std::unique_ptr<Command> make_worker();
std::unique_ptr<Command> make_sanitized_worker();

}  // namespace redzone::cli
