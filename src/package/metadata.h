// A compiled kernel of a package: the cubin and Triton's metadata for it.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "core/error.h"
#include "package/package.h"

namespace redzone::package {

// Reads FOLDER/cubin/FILE.cubin and FILE.json and checks that they agree with each other and with
// the kernel and architecture of `package`. Throws FieldError. Appends the bytes read to
// `all_bytes`, for the hash of the code.
Compiled read_compiled(const Package& package, const std::string& file, std::string& all_bytes);

// Like read_compiled(), for a cubin and metadata that have already been read.
Compiled compiled_of(const Package& package, const std::string& file, std::string image,
                     std::string_view metadata);

}  // namespace redzone::package
