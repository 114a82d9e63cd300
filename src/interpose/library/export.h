// Marks the few symbols that the preloaded library exports to the program.
#pragma once

// NOLINTNEXTLINE: an attribute that a declaration cannot take from a function
#define REDZONE_EXPORT extern "C" __attribute__((visibility("default")))
