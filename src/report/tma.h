// The output of `redzone tma`. Pure: values in, text out.
//
//   explain   {"blocks", "left_out", "verdict": "wrong"|"clean"|"unreadable", "descriptors":
//             [DIAGNOSIS]}
//   DIAGNOSIS {"verdict": "wrong"|"unexplained"|"clean"|"unreadable", "line", "times",
//             "descriptor": DESCRIPTOR or null when unreadable, "error": {"code": number or null,
//             "words"} or null, "broken": [ADVICE], "doubtful": [ADVICE], "not_judged": [text],
//             "notes": [text]}
//   ADVICE    {"rule", "dim": number or null, "field", "value", "limit", "degenerate", "why",
//             "change"}
//   DESCRIPTOR {"kind": "tiled"|"im2col", "format", "rank", "address", "dims", "strides", "box" or
//             "lower_corner", "upper_corner", "channels" and "pixels", "element_strides",
//             "interleave", "swizzle", "promotion", "fill"}: lists as long as the rank
//             (at most 5), strides in bytes from dim 1 on
#pragma once

#include <string>

#include "tma/explain.h"

namespace redzone::report {

// The overall verdict: wrong if any descriptor is wrong or unexplained; else unreadable if any is
// unreadable or there are none; else clean.
tma::Verdict verdict_of(const tma::Explanation& explanation);

std::string explanation_text(const tma::Explanation& explanation);
std::string explanation_json(const tma::Explanation& explanation);

}  // namespace redzone::report
