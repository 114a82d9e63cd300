#include "standalone/ways.h"

#include <fmt/format.h>

namespace redzone::standalone {
namespace {

Mode with_other_edge(Mode mode) {
  mode.placement =
      mode.placement == Placement::guard_after ? Placement::guard_before : Placement::guard_after;
  return mode;
}

Mode with_other_poison(Mode mode) {
  mode.poison = ~mode.poison;
  return mode;
}

Mode with_launch(Mode mode, Launch launch) {
  mode.launch = launch;
  return mode;
}

}  // namespace

Result<std::vector<Way>> ways_to_run(FailKind kind, const Mode& mode) {
  if (mode.callers != Callers::one)
    return usage_error(
        "in the plan each call has a host thread of its own (callers = \"each\"), and "
        "in the program one makes all");
  if (mode.addresses != Addresses::distinct)
    return usage_error(
        "in the plan tensors lie where those of earlier calls did (addresses = \"reused\"), and "
        "in the program each has memory of its own");
  if (mode.stack != Stack::as_left)
    return usage_error(fmt::format(
        "in the plan the host's stack is filled before each call (stack = \"{}\"), and the "
        "program leaves it as it is",
        name_of(mode.stack)));
  const Way found{"as found", mode};
  const Mode blocking = with_launch(mode, Launch::blocking);
  switch (kind) {
    case FailKind::launch_config:
    case FailKind::illegal_access:
    case FailKind::misaligned:
    case FailKind::fault:
    case FailKind::hang:
    case FailKind::redzone:
    case FailKind::input_changed:
      return std::vector{found};
    case FailKind::nondeterministic:
      return std::vector{found, Way{"the same again", mode}};
    case FailKind::uninitialized:
      return std::vector{found, Way{"with another poison", with_other_poison(mode)}};
    case FailKind::history:
      return std::vector{found, Way{"each call alone", blocking, true}};
    case FailKind::order:
    case FailKind::async:
      // Blocked launches give the host the largest window, so that a race seen on another device
      // also occurs here.
      return std::vector{found, Way{"with launches held", with_launch(mode, Launch::gated)},
                         Way{"with blocking launches", blocking}};
    case FailKind::placement:
      return std::vector{found, Way{"with buffers at the other edge", with_other_edge(mode)}};
    case FailKind::divergence:
      return std::vector{found, Way{"each call alone, in other memory",
                                    with_other_poison(with_other_edge(blocking)), true}};
    default:
      return usage_error(
          fmt::format("a failure of kind '{}' does not show without Redzone", name_of(kind)));
  }
}

Result<void> check_tensor(const TensorSpec& tensor) {
  if (!tensor.counted_by) return {};
  return usage_error(fmt::format(
      "how much of tensor '{}' is valid depends on the data ('{}'), and the program compares "
      "outputs whole; it is not exported",
      tensor.name, tensor.counted_by->tensor));
}

}  // namespace redzone::standalone
