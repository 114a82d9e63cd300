// Sentences about a night that several report formats share. They contain unescaped bytes from
// targets, files and people, which each format escapes.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "report/night.h"

namespace redzone::report {

// "Nothing new.", "New or regressed findings.", ...
std::string_view exit_sentence(int exit_code);

// Like exit_sentence(), but for the current marks: all new findings may have been marked since.
std::string_view verdict_sentence(const Night& night);

// One line for each kind of alarm: "1 finding to look at: new or regressed".
std::vector<std::string> alarm_texts(const Night& night);

// "shard 2 of 3", "shards 1, 3 of 3"; "" if the night has no shards.
std::string shard_text(const Night& night);

// True if the night ran to its end and judged something: exit 0 or 1.
bool could_judge(const Night& night);

// "still fails, 3 of 3 runs: REASON"
std::string outcome_text(ReplayOutcome outcome, std::int64_t k, std::int64_t n,
                         std::string_view reason);
// Like the overload above, with the number of plans that showed the finding.
std::string outcome_text(const NightFinding& finding);

// "known (https://...): still fails, 3 of 3 runs", "new, suspect: ..."
std::string state_sentence(const NightFinding& finding);

}  // namespace redzone::report
