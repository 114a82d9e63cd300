// What the program learns of an error on the device by.
#pragma once

#include "interpose/driver_abi.h"

namespace redzone::interpose {

// Returns `result`, of a call of the program; its first error that stays is reported. Without a
// context it is the current one's.
int checked(int result, const char* call, CuContext context = nullptr);

// Before a call that waits for the device: no stream is held any longer.
void release_holds();

}  // namespace redzone::interpose
