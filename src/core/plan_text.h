// The text form of a plan: TOML, versioned, canonical. This form is stored, exchanged and diffed.
//
//     redzone_plan = 1
//     target = "chunk_fwd_h"
//
//     [mode]
//     launch = "async"
//     allocator = "guard"
//     placement = "guard_after"
//     poison = "0xffffffff"
//     schedule_seed = 0
//     sanitizer = "memcheck"                   # only when it is not none
//     pool = { allow_opportunistic = false }   # only for the allocator "pool", what is not default
//
//     [[step]]
//     do = "call"
//     dims = { B = 1, T = 64 }
//     config = { num_warps = 4 }
//     layout = { q = { row_padding = 8 } }     # only what is not contiguous
//     seed = 1
//     repeat = 3                               # only when it is not 1
//     stream = 1                               # only when it is not 0
//
//     [[step]]
//     do = "sync"
//
//     [[step]]
//     do = "wait"
//     stream = 1
//     on = 0
//
//     [[step]]
//     do = "call"           # captured here, not run
//     dims = { T = 64 }
//     graph = 1             # default 0: not part of a graph
//
//     [[step]]
//     do = "replay"
//     graph = 1
//     repeat = 2            # default 1
//     stream = 1            # default 0
//
// A file may hold an [expect] table beside the plan (see repro.h); it is not part of the plan and
// does not count in its hash.
#pragma once

#include <string>
#include <string_view>

#include "core/error.h"
#include "core/plan.h"

namespace redzone {

// Canonical: equal plans print the same text. parse_plan(print_plan(p)) == p.
std::string print_plan(const Plan& plan);

// The same text with the first names of the format, so that a plan keeps its hash when a name
// changes.
std::string text_to_hash(const Plan& plan);

// Texts with older names are read, too. `where` names the source in errors ("repro.toml:3:8: ...").
// Checks the form, not the target's spec (see validate.h). Unknown keys, another version, wrong
// types and binary data are usage errors.
Result<Plan> parse_plan(std::string_view text, std::string_view where = "plan");

// "7", or "\"abc\"" with TOML escapes.
std::string print_value(const Value& value);

}  // namespace redzone
