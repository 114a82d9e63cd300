// A night as one static HTML page: its style, its script and its data are in it, so that it works
// from a file, without a server and without the network (its Content-Security-Policy forbids both).
//
// The data is night.json in a <script> element that does not run, escaped so that no text in it can
// end the element. The script makes elements and sets text; it parses no HTML, so that a kernel's
// name stays a name. Links other than to the web are data that is not a link (web_link()).
//
// With more than 2,000 findings the most urgent are on the page, and it says how many are not; its
// totals are of all.
#pragma once

#include <string>

#include "report/night.h"

namespace redzone::report {

std::string night_html(const Night& night);

}  // namespace redzone::report
