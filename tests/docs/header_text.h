// SPDX-License-Identifier: Apache-2.0
//
// What a public header says: the members of a class or struct with the comments above them. It
// reads the style of include/ashlar, not C++: a comment belongs to the declarations below it, up to
// the next comment or empty line. Pure functions.
#pragma once

#include <string>
#include <vector>

namespace ashlar {

struct DeclaredMember {
  std::string name;
  std::string comment;  // empty without one
  bool is_function = false;
};

// `opening` is the line with which the type begins, such as "class DB {". Nested types, operators,
// constructors and the destructor are left out; a name that is declared several times appears as
// often.
std::vector<DeclaredMember> MembersOf(const std::string& header, const std::string& opening);

// Of a file of the project.
std::string TextOf(const std::string& path);

}  // namespace ashlar
