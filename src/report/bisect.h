// The output of `redzone bisect` and `redzone explain`. Pure: values in, text or JSON out, with a
// newline at the end.
//
//   bisect   {"finding", "signature", "base": RUNS, "sentence", "background": text or null,
//            "complete", "runs_made", "rows": [{"kind": "knob"|"mode"|"dim"|"layout"|"data"|"step",
//            "setting", "value", "verdict", "necessary": bool or null, "sufficient": bool or null,
//            "or_else": [text], "decides_with": [text], "by_oracle", "tried": [{"value", "answer",
//            "plan_hash", "runs": RUNS, "other_data": RUNS with other data that fail, or null,
//            "other_data_seeds": {"failing", "tried"}: numbers of other seeds, or null,
//            "other_launch": {"launch", "runs": RUNS} under a launch that fails, or null,
//            "other_schedule": {"seed", "runs": RUNS} with a schedule that fails, or null}]}],
//            "go": CHANGE or null, "come": CHANGE or null, "combinations": [CHANGE], "explain":
//            [{"text", "verdict", "fails": RUNS, "passes": RUNS}]}
//   RUNS     {"k", "n", "other", "unjudged", "said"}: k of n judged runs failed as the finding,
//            `other` of them failed otherwise. A sequential test determines the number of runs, so
//            the counts have no interval
//   CHANGE   {"settings": [text], "answer", "plan", "plan_hash", "runs": RUNS}
//   --dim    {"finding", "signature", "dim", "calls", "base": RUNS, "sentence",
//            "rule": text or null, "samples": [{"value", "answer", "runs": RUNS}],
//            "only_this_data": [value that passes, but fails with other data],
//            "only_this_schedule": [the same with other schedules], "foretold", "complete",
//            "runs_made"}
//   --builds {"finding", "signature", "sentence", "first_bad": path or null, "last_good": path or
//            null, "between": [path], "confidence", "path": [{"build", "answer", "skipped", "runs":
//            RUNS, "likely": path or null, "confidence"}]}
#pragma once

#include <string>
#include <string_view>

#include "bisect/bisect.h"
#include "bisect/boundary.h"
#include "bisect/builds.h"
#include "core/finding.h"

namespace redzone::report {

std::string bisection_text(const Finding& finding, const bisect::Bisection& bisection);
std::string bisection_json(const Finding& finding, const bisect::Bisection& bisection);
// Only the sentences, each with its runs.
std::string explanation_text(const Finding& finding, const bisect::Bisection& bisection);

std::string boundary_text(const Finding& finding, const bisect::Boundary& boundary);
std::string boundary_json(const Finding& finding, const bisect::Boundary& boundary);

// `builds`: the builds that were tried, as the user named them.
std::string builds_text(const Finding& finding, const std::vector<std::string>& builds,
                        const bisect::FirstBad& result);
std::string builds_json(const Finding& finding, const std::vector<std::string>& builds,
                        const bisect::FirstBad& result);

// "8/8"
std::string ratio(const bisect::Counts& counts);

}  // namespace redzone::report
