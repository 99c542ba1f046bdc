// SPDX-License-Identifier: Apache-2.0
//
// A small JSON reader for test data: objects, arrays, strings, numbers, true, false, null. Invalid
// input ends the test program with a message.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace ashlar {

class Json {
 public:
  enum class Kind { kNull, kBool, kNumber, kString, kArray, kObject };

  static Json Parse(const std::string& text);
  static Json ParseFile(const std::string& path);

  Kind kind() const { return kind_; }
  bool Has(const std::string& name) const { return members_.count(name) != 0; }
  const Json& operator[](const std::string& name) const;
  const Json& operator[](size_t index) const;
  size_t size() const { return elements_.size(); }
  const std::vector<Json>& elements() const { return elements_; }
  const std::string& text() const { return text_; }  // a string, or a number as written
  uint64_t number() const;
  bool boolean() const { return text_ == "true"; }

 private:
  friend class JsonParser;

  Kind kind_ = Kind::kNull;
  std::string text_;
  std::vector<Json> elements_;
  std::map<std::string, Json> members_;
};

// The bytes that hexadecimal digits such as "6b6579" stand for.
std::string FromHex(const std::string& hex);

// Parses a whole file; ends the program if it cannot be read.
std::string ReadTestFile(const std::string& path);

}  // namespace ashlar
