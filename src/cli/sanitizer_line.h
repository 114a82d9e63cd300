// The line of `redzone doctor` about compute-sanitizer.
#pragma once

#include <functional>
#include <string>

#include "core/error.h"
#include "report/doctor.h"

namespace redzone::cli {

// `path`: the program's file, "" if not found. `gpu`: a device is available to test it on; only
// then `prove_memcheck` is called, once.
report::DoctorLine sanitizer_line(const std::string& path, bool gpu,
                                  const std::function<Result<void>()>& prove_memcheck);

}  // namespace redzone::cli
