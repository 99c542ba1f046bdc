// SPDX-License-Identifier: Apache-2.0
//
// docs/compatibility.md, section by section: what stands below a heading "## ..." is compared with
// what the code says. With ASHLAR_REWRITE=1 the section is written instead. What stands before the
// first heading is written by hand. Threads: one at a time.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace ashlar {

// Names by what is said of them, as paragraphs: "**works** (2): `a`, `b`".
class NamesByState {
 public:
  // The order of the paragraphs; those without names are left out.
  explicit NamesByState(std::vector<std::string> states) : states_(std::move(states)) {}

  void Add(const std::string& state, const std::string& name);
  std::string Text() const;

 private:
  const std::vector<std::string> states_;
  std::map<std::string, std::vector<std::string>> names_;
};

// "works" first, then "hint", then "refused".
NamesByState PlainStates();

// Fails if the section says anything else. A section that is not there is put at the end.
void ExpectSection(const std::string& heading, const std::string& body);

}  // namespace ashlar
