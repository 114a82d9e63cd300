// What the commands print for people. Pure: values in, text out; every text ends with a newline
// unless its comment says otherwise. What came from a target is made printable.
//
// `db` is the store's file where it has to be named on the command line, "" for the default one.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "core/campaign_record.h"
#include "report/values.h"

namespace redzone::report {

// A table of all; dims, tensors and knobs are in target_text().
std::string targets_text(std::span<const TargetInfo> targets);
std::string target_text(const TargetInfo& target);

// "confirmed"; "confirmed, known" where something stands in the ledger.
std::string state_text(const Finding& finding);
std::string findings_text(std::span<const Finding> findings);
// `artifacts`: those of the finding; the logs among them are shown.
std::string finding_text(const Finding& finding, std::string_view db = "",
                         std::span<const Artifact> artifacts = {});

// The end of `redzone run`. All five counts of verdicts are always there: what could not be judged
// is not a pass. `found`: the findings of this campaign, each with the line that replays it.
std::string campaign_text(const CampaignRecord& campaign, std::span<const Finding> found,
                          const SelfProof& proof, std::string_view db = "",
                          const Scope& scope = {});

std::string replay_text(const ReplayResult& result);

// For a terminal: one line without a newline, cut to `columns`; written over the one before.
std::string progress_line(const Progress& progress, std::size_t columns = 80);
// For a log: one line of key=value pairs, with a newline.
std::string progress_log(const Progress& progress);
// What a campaign says of a finding at once, in one line: that it is confirmed, then how far it was
// reduced. `seconds`: since the campaign began.
std::string found_line(const Finding& finding, double seconds);

// "redzone replay 3", with the package that it needs and the store, quoted for the shell; no
// newline. A package that no kernel ran of is replayed so: there may be no GPU.
std::string replay_command(const Finding& finding, std::string_view db = "");
// Of it what brings the target along, each with a blank before it: "" for one that ships.
std::string origin_flags(const Environment& environment);

}  // namespace redzone::report
