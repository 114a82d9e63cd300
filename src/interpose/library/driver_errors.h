// Checks results of the program's calls for errors on the device.
#pragma once

#include "interpose/driver_abi.h"

namespace redzone::interpose {

// Returns `result`, the result of a call of the program; reports the first sticky error. A null
// context means the current one.
int checked(int result, const char* call, CuContext context = nullptr);

// Call before a call that waits for the device: releases all held streams.
void release_holds();

}  // namespace redzone::interpose
