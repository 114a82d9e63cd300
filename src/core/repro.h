// A plan file with the expected failure: the format of `redzone export` and of the files in
// repros/. The plan is a plain plan (plan_text.h); the table beside it is
//
//     [expect]
//     oracle = "fault"
//     kind = "illegal-access"
//     where = "read_past_end"      # these four only if known
//     buffer = "x"
//     side = "after"
//     access = "read"
//     failed = [9, 10]             # optional; 9 of 10 runs failed when it was measured
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/error.h"
#include "core/finding.h"
#include "core/plan.h"
#include "core/verdict.h"

namespace redzone {

struct Repro {
  Plan plan;
  std::string oracle = {};                  // "" when nothing is expected
  std::optional<Signature> signature = {};  // set together with `oracle`
  std::optional<Reliability> failed = {};   // 0 < k <= n; only with `signature`

  // The failure rate to expect: the measured rate, or 1 of 1 if it was not measured; 0 of 0 if no
  // failure is expected.
  Reliability rate() const;

  bool operator==(const Repro&) const = default;
};

// `comment` is written at the top of the file, each line after a '#' and made printable, so that
// the file can be parsed with any comment.
std::string print_repro(const Repro& repro, std::string_view comment = {});

// A text without an [expect] table is a plan alone. Errors as in parse_plan().
Result<Repro> parse_repro(std::string_view text, std::string_view where = "plan");

}  // namespace redzone
