// Text from targets, plans and links made fit for the formats of a report. A kernel's name, a
// reason or a link is whatever somebody wrote, in any bytes: nothing of it may end an element, open
// another or run. Pure; every result is valid UTF-8.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/utf8.h"

namespace redzone::report {

// Characters that XML 1.0 has (its production [2], Char): the others, which no escape can express,
// become U+FFFD. '<', '&' and quotes are left to the writer of the document.
std::string xml_characters(std::string_view bytes);

// JSON for the inside of a <script> element: '<', '>' and '&' as \u escapes, so that no string in
// it can end the element or open a comment, and U+2028 and U+2029, which older JavaScript takes for
// the ends of lines. Still the same JSON. `json` must be valid JSON.
std::string json_in_html(std::string_view json);

// A link that a reader may follow: http or https, a host, and no character that could end an
// attribute, a Markdown link or a line. Nothing otherwise (javascript:, data:, relative ones): then
// it is shown as text.
std::optional<std::string> web_link(std::string_view link);

// A piece of a line of GitHub's Markdown that shows `text` as it is, also in a cell of a table:
// what has a meaning within a line of Markdown or HTML is escaped; line ends become spaces, and
// other control characters U+FFFD. Not for the start of a line, where '#' and '-' have a meaning,
// too.
std::string markdown_text(std::string_view text);

// The same as code, in backticks that are longer than any in it: `text`, ``te`xt``. Pipes are
// escaped, as the cell of a table asks for; use it in tables only.
std::string markdown_cell_code(std::string_view text);

// A fenced block; the fence is longer than any run of backticks in it. Ends with a newline.
std::string markdown_block(std::string_view text, std::string_view language = "");

// At most `bytes` bytes of valid UTF-8, cut between characters.
std::string_view cut_utf8(std::string_view text, std::size_t bytes);

}  // namespace redzone::report
