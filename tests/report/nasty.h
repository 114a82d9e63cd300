// Texts that try to break out of a report's format, and nights made of them.
#pragma once

#include <rapidcheck.h>

#include <string>
#include <vector>

#include "report/night_sample.h"

namespace redzone::report::testing {

// Texts that end, open or hide something in HTML, XML, JSON, Markdown or a terminal, in valid and
// invalid UTF-8.
inline std::vector<std::string> nasty_pieces() {
  return {"</script>",
          "<!--",
          "]]>",
          "<![CDATA[",
          "-->",
          "<script>alert(1)</script>",
          "<img src=x onerror=alert(1)>",
          "javascript:alert(1)",
          "https://example.com/1",
          "\"",
          "'",
          "&",
          "&amp;",
          "<",
          ">",
          "|",
          "\\",
          "\\|",
          "`",
          "```",
          "*",
          "_",
          "[a](b)",
          "$x$",
          "~~",
          "\n",
          "\r\n",
          "\t",
          " ",
          "{{data}}",
          "{}",
          "%s",
          "\x01",
          "\x1b[31m",
          "\x7f",
          std::string(1, '\0'),
          "\xc2\x85",
          "\xe2\x80\xa8",
          "\xe2\x80\xa9",
          "\xe2\x80\xae",  // what follows is shown from right to left
          "\xc2\x9b",
          "\xef\xbf\xbe",
          "\xef\xbf\xbf",
          "\xef\xbb\xbf",
          "\xc0\xaf",
          "\xed\xa0\x80",
          "\xf4\x90\x80\x80",
          "\xf0\x9f\x98\x80",
          "\xf0\x9f",
          "\xff",
          "\x80",
          "é",
          "kernel<float, 4>",
          "ns::scan"};
}

// Pieces in any order, with any bytes between them.
inline rc::Gen<std::string> nasty_text() {
  const auto bytes = rc::gen::container<std::string>(
      rc::gen::map(rc::gen::inRange(0, 256), [](int byte) { return static_cast<char>(byte); }));
  return rc::gen::map(rc::gen::container<std::vector<std::string>>(
                          rc::gen::oneOf(rc::gen::elementOf(nasty_pieces()), bytes)),
                      [](const std::vector<std::string>& parts) {
                        std::string all;
                        for (const auto& part : parts) all += part;
                        return all;
                      });
}

// Calls `change` with every text of a night that comes from a target, a file or a user.
template <class Change>
void for_each_text(Night& night, Change change) {
  for (auto* text : {&night.command, &night.commit, &night.device, &night.driver, &night.toolkit,
                     &night.host, &night.problem})
    change(*text);
  for (auto& part : night.parts) change(part.device), change(part.host);
  for (auto& f : night.findings) {
    for (auto* text :
         {&f.signature, &f.kind, &f.target, &f.where, &f.buffer, &f.side, &f.access, &f.ledger.link,
          &f.ledger.note, &f.outcome_reason, &f.reason, &f.oracle, &f.plan, &f.fault, &f.device,
          &f.driver, &f.toolkit, &f.code_hash, &f.replay})
      change(*text);
    for (auto& one : f.fault_attributions) change(one);
    for (auto& row : f.attribution) change(row.axis), change(row.value);
    for (auto& table : f.tables) {
      change(table.title);
      for (auto& column : table.columns) change(column);
      for (auto& row : table.rows)
        for (auto& cell : row) change(cell);
    }
  }
  for (auto& p : night.corpus)
    for (auto* text : {&p.file, &p.target, &p.expected, &p.reason, &p.replay}) change(*text);
  for (auto& t : night.targets) change(t.name), change(t.not_fuzzed), change(t.not_compared);
  for (auto& gap : night.not_judged) change(gap.what), change(gap.why);
}

// All texts are drawn from a few. Call it within a property.
inline Night nasty_night() {
  const auto texts = *rc::gen::container<std::vector<std::string>>(std::size_t{16}, nasty_text());
  Night night = sample_night();
  std::size_t next = 0;
  for_each_text(night, [&](std::string& text) { text = texts[next++ % texts.size()]; });
  return night;
}

}  // namespace redzone::report::testing
