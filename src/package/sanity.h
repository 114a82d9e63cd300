// Whether what a package declares can be true of any call at all.
#pragma once

#include "core/fields.h"
#include "package/package.h"

namespace redzone::package {

// Throws the error of the first expression of `package` that has no value for the least dims, for
// the largest, for some between, and for small ones beside large ones, under any knobs: one that
// divides by zero, a shape, a grid or an amount of work that is negative, an integer that its
// argument's type does not hold, a range of a fill without a number. Nothing would ever be run, and
// nobody would be told which field is to blame. Where constraints forbid all of these dims, nothing
// is said. `root` is that of target.toml.
void check_sanity(const Fields& root, const Package& package);

}  // namespace redzone::package
