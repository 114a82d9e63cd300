// A plan file that says what it is expected to show: what `redzone export` writes and what stands
// in repros/. The plan is a plain plan (plan_text.h); the table beside it is
//
//     [expect]
//     oracle = "fault"
//     kind = "illegal-access"
//     where = "read_past_end"      # these four only where they are known
//     buffer = "x"
//     side = "after"
//     access = "read"
//     failed = [9, 10]             # of 10 runs 9 failed so when it was measured; optional
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

  // The rate of failure to look for: of an expected failure that nobody has measured, that of one
  // that was seen once; none (0 of 0) if nothing is expected.
  Reliability rate() const;

  bool operator==(const Repro&) const = default;
};

// `comment` goes to the top of the file, each line behind a '#' and made printable, so that the
// file can be read again whatever it holds.
std::string print_repro(const Repro& repro, std::string_view comment = {});

// Without an [expect] table: a plan alone. Errors as parse_plan().
Result<Repro> parse_repro(std::string_view text, std::string_view where = "plan");

}  // namespace redzone
