// The text output of the commands. Pure: values in, text out; every text ends with a newline unless
// its comment says otherwise. Text from targets is made printable.
//
// `db` is the store's file if the command line must name it, "" for the default store.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "core/campaign_record.h"
#include "report/values.h"

namespace redzone::report {

// A table of all targets; dims, tensors and knobs are in target_text().
std::string targets_text(std::span<const TargetInfo> targets);
std::string target_text(const TargetInfo& target);

// "confirmed"; "confirmed, known" if the ledger has an entry.
std::string state_text(const Finding& finding);
std::string findings_text(std::span<const Finding> findings);
// `artifacts`: those of the finding; the logs among them are shown.
std::string finding_text(const Finding& finding, std::string_view db = "",
                         std::span<const Artifact> artifacts = {});

// The summary of `redzone run`. Always includes all five counts of verdicts, because a plan that
// could not be judged is not a pass. `found`: the findings of this campaign, each printed with its
// replay command.
std::string campaign_text(const CampaignRecord& campaign, std::span<const Finding> found,
                          const SelfProof& proof, std::string_view db = "",
                          const Scope& scope = {});

std::string replay_text(const ReplayResult& result);

// For a terminal: one line without a newline, cut to `columns`, to be overwritten by the next.
std::string progress_line(const Progress& progress, std::size_t columns = 80);
// For a log: one line of key=value pairs, with a newline.
std::string progress_log(const Progress& progress);
// One line about a finding when it is confirmed, and again when it is reduced. `seconds`: time
// since the campaign began.
std::string found_line(const Finding& finding, double seconds);

// "redzone replay 3", with the required package and the store, quoted for the shell; no newline. If
// no kernel of the package ran, the command replays it as a dry run, because there may be no GPU.
std::string replay_command(const Finding& finding, std::string_view db = "");
// The flags of replay_command() that load the target, each after a space; "" for a built-in target.
std::string origin_flags(const Environment& environment);

}  // namespace redzone::report
