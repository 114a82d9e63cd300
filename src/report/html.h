// A night as one static HTML page that contains its style, script and data, so that it works from a
// file, without a server or network (its Content-Security-Policy forbids both).
//
// The data is night.json in a <script> element that does not run, escaped so that no text in it can
// end the element. The script creates elements and sets text; it never parses HTML, so a kernel's
// name stays plain text. URLs that are not http or https are shown as text, not as links
// (web_link()).
//
// With more than 2,000 findings the page has only the most urgent ones and gives the number of the
// others; its totals include all.
#pragma once

#include <string>

#include "report/night.h"

namespace redzone::report {

std::string night_html(const Night& night);

}  // namespace redzone::report
