// Texts that a target gives: messages of its exceptions, its reasons, the codes of its failures.
// They may have any length and any bytes.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace redzone {

// How much of a text is kept. The driver keeps the texts of each trial, and reports show them.
inline constexpr std::size_t kMostTargetTextBytes = 2000;

// How much of Fault::code is kept, which is in the name of a finding.
inline constexpr std::size_t kMostTargetCodeBytes = 500;

// The text as well-formed UTF-8. If it is longer than `most_bytes`, as many of its first characters
// as fit, and " [cut]".
std::string target_text(std::string_view text, std::size_t most_bytes = kMostTargetTextBytes);

// The same on one line (core/terminal.h).
std::string target_line(std::string_view text);

}  // namespace redzone
