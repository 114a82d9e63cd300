// Which frames of a stack say where a program called: those of libraries that work for it, such as
// the CUDA runtime between cudaMalloc() and the driver, do not.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "guard/process_record.h"

namespace redzone::guard {

// Without the frames of the CUDA runtime and of the driver inside the function of theirs that the
// program called, which comes first then. A stack of nothing else is left as it is.
std::span<const Frame> shown(const std::vector<Frame>& stack);

// "fill(float*) (/usr/bin/train+0x10)"; as much of it as is known.
std::string text_of(const Frame& frame);

// The innermost frame that is in none of the CUDA runtime, the driver, the C and the C++ library;
// the innermost of all if each is. Null for an empty stack.
const Frame* caller(const std::vector<Frame>& stack);

// That frame and those of the program that called it, innermost first; `most` at most, each of
// another function than the one before it.
std::vector<const Frame*> callers(const std::vector<Frame>& stack, std::size_t most);

// The innermost line that is in no installed package and no module of the interpreter; the
// innermost of all if each is. Null for an empty stack.
const PythonFrame* caller(const std::vector<PythonFrame>& stack);
std::vector<const PythonFrame*> callers(const std::vector<PythonFrame>& stack, std::size_t most);

}  // namespace redzone::guard
