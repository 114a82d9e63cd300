// Adds the targets of Python files to a registry.
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

// Adds each target for each kind of device that plugins are built for. `origin`: the common origin
// of all targets, without the file. On the cores of the host a callable computes synchronously.
Result<void> add_targets(Registry& registry, const Descriptions& descriptions,
                         const TargetOrigin& origin, const MakeTarget& make);

// For a process without Python, such as the driver: rejects every call.
std::unique_ptr<Target> without_python(const std::shared_ptr<const TargetDescription>& description);

}  // namespace redzone::python
