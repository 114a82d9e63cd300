// Times as text: UTC, ISO 8601.
#pragma once

#include <string>
#include <string_view>

namespace redzone {

// "2025-01-31T12:34:56Z"; such texts sort by time.
std::string utc_now();
// "2025-01-31T12:34:56.123456Z"
std::string utc_now_us();
// The time `days` ago, in the format of utc_now_us().
std::string utc_days_ago(double days);
// The earliest text in the format of utc_now_us() that sorts after `time`; "" if `time` has neither
// format above.
std::string just_after(std::string_view time);
// Whether `time` has one of the formats above and is before the year 9000: later times are
// mistakes, and from the year 10000 on texts no longer sort by time.
bool is_utc_time(std::string_view time);

}  // namespace redzone
