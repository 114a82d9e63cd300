// Makes text from targets, plans and links safe for report formats. A kernel's name, a reason or a
// link may contain any bytes: none of them may end an element, open another or run code. Pure;
// every result is valid UTF-8.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/utf8.h"

namespace redzone::report {

// Replaces characters outside XML 1.0's production [2] (Char), which no escape can express, by
// U+FFFD. '<', '&' and quotes are left to the writer of the document.
std::string xml_characters(std::string_view bytes);

// JSON for use inside a <script> element: '<', '>' and '&' become \u escapes, so that no string in
// the JSON can end the element or open a comment; likewise U+2028 and U+2029, which older
// JavaScript treats as line ends. The JSON value is unchanged. `json` must be valid JSON.
std::string json_in_html(std::string_view json);

// Returns the link if it is safe to follow: http or https, a host, and no character that could end
// an attribute, a Markdown link or a line. Otherwise (javascript:, data:, relative links) empty:
// the link is then shown as text.
std::optional<std::string> web_link(std::string_view link);

// Escapes `text` for a line of GitHub's Markdown, including table cells: characters with a meaning
// within a line of Markdown or HTML are escaped, line ends become spaces, and other characters that
// control a terminal or reorder text become U+FFFD. Not for the start of a line, where '#' and '-'
// have a meaning, too.
std::string markdown_text(std::string_view text);

// `text` as inline code, delimited by more backticks than any run of backticks in it: `text`,
// ``te`xt``. Pipes are escaped, as a table cell requires; use it only in tables.
std::string markdown_cell_code(std::string_view text);

// A fenced block; the fence is longer than any run of backticks inside. Ends with a newline.
std::string markdown_block(std::string_view text, std::string_view language = "");

}  // namespace redzone::report
