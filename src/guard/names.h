// Names of the values that guarded processes report.
#pragma once

#include <string_view>

#include "core/enum_names.h"
#include "interpose/record.h"
#include "interpose/settings.h"

namespace redzone::interpose {

constexpr auto enum_table(FindingKind) {
  return enum_names<FindingKind>("kind of finding", {{FindingKind::guard_page, "guard-page"},
                                                     {FindingKind::after_free, "after-free"},
                                                     {FindingKind::canary, "canary"},
                                                     {FindingKind::bad_free, "bad-free"},
                                                     {FindingKind::device_error, "device-error"},
                                                     {FindingKind::range, "range"}});
}

constexpr auto enum_table(Access) {
  return enum_names<Access>("access", {{Access::unknown, "unknown"},
                                       {Access::read, "read"},
                                       {Access::write, "write"},
                                       {Access::execute, "execute"}});
}

constexpr auto enum_table(Side) {
  return enum_names<Side>("side", {{Side::none, "none"},
                                   {Side::before, "before"},
                                   {Side::after, "after"},
                                   {Side::inside, "inside"}});
}

constexpr auto enum_table(LaunchMode) {
  return enum_names<LaunchMode>("launch mode", {{LaunchMode::async, "async"},
                                                {LaunchMode::blocking, "blocking"},
                                                {LaunchMode::held, "held"}});
}

constexpr auto enum_table(Check) {
  return enum_names<Check>("check",
                           {{Check::at_free, "free"}, {Check::each_launch, "each-launch"}});
}

constexpr auto enum_table(OnError) {
  return enum_names<OnError>("choice", {{OnError::stop, "stop"}, {OnError::go_on, "continue"}});
}

}  // namespace redzone::interpose

namespace redzone::guard {

// "left-out-capture": the key of the counter in JSON.
std::string_view key_of(interpose::Counter counter);
// Explains a counter that is a reason or a limit to the reader; "" for the others.
std::string_view meaning_of(interpose::Counter counter);
// True for a limit that applies to every program with the CUDA runtime, so that it says nothing
// about this program.
bool is_usual(interpose::Counter counter);

}  // namespace redzone::guard
