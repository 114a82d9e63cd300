// Selects the frames of a stack that show where a program made a call, as opposed to frames of
// libraries in between, such as the CUDA runtime between cudaMalloc() and the driver.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "guard/process_record.h"

namespace redzone::guard {

// The stack without the frames inside the CUDA runtime or driver function that the program called;
// that function comes first. A stack with no other frames is returned unchanged.
std::span<const Frame> shown(const std::vector<Frame>& stack);

// "fill(float*) (/usr/bin/train+0x10)"; unknown parts are omitted.
std::string text_of(const Frame& frame);

// The innermost frame that is not in the CUDA runtime, the driver, the C library or the C++
// library; the innermost of all if each is. Null for an empty stack.
const Frame* caller(const std::vector<Frame>& stack);

// That frame and its callers in the program, innermost first; at most `most`, each in another
// function than the one before it.
std::vector<const Frame*> callers(const std::vector<Frame>& stack, std::size_t most);

// The innermost line that is not in an installed package or a module of the interpreter; the
// innermost of all if each is. Null for an empty stack.
const PythonFrame* caller(const std::vector<PythonFrame>& stack);
std::vector<const PythonFrame*> callers(const std::vector<PythonFrame>& stack, std::size_t most);

}  // namespace redzone::guard
