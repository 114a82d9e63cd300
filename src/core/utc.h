// Times as text: UTC, ISO 8601.
#pragma once

#include <string>
#include <string_view>

namespace redzone {

// "2025-01-31T12:34:56Z"; such texts sort by time.
std::string utc_now();
// "2025-01-31T12:34:56.123456Z"
std::string utc_now_us();
// The time `days` ago, in the form of utc_now_us().
std::string utc_days_ago(double days);
// The earliest utc_now_us() text that sorts after `time`, a text of one of the above; "" if `time`
// is neither.
std::string just_after(std::string_view time);
// Whether `time` is a text of one of the above, and before the year 9000: later times, after which
// texts no longer sort by time, are mistakes.
bool is_utc_time(std::string_view time);

}  // namespace redzone
