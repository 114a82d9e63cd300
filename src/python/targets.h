// Adds the targets of Python files to those of a process.
#pragma once

#include <redzone/target.h>

#include <functional>
#include <memory>
#include <string>

#include "core/error.h"
#include "python/description.h"
#include "target/registry.h"

namespace redzone::python {

using MakeTarget =
    std::function<std::unique_ptr<Target>(const std::shared_ptr<const TargetDescription>&)>;

// For each kind of device that plugins are built for. `origin`: of all of them, without the file.
// On the cores of the host a callable computes at once.
Result<void> add_targets(Registry& registry, const Descriptions& descriptions,
                         const TargetOrigin& origin, const MakeTarget& make);

// For a process that has no Python, as the driver: a call is refused.
std::unique_ptr<Target> without_python(const std::shared_ptr<const TargetDescription>& description);

}  // namespace redzone::python
