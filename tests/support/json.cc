// SPDX-License-Identifier: Apache-2.0
//
// Recursive descent; speed does not matter here.
#include "tests/support/json.h"

#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <utility>

namespace ashlar {
namespace {

[[noreturn]] void Die(const std::string& what) {
  std::fprintf(stderr, "test data: %s\n", what.c_str());
  std::abort();
}

}  // namespace

class JsonParser {
 public:
  explicit JsonParser(const std::string& text) : p_(text.data()), end_(p_ + text.size()) {}

  Json ParseAll() {
    Json value = Value();
    SkipSpace();
    if (p_ != end_) Die("bytes after the JSON value");
    return value;
  }

 private:
  Json Value() {
    Json value;
    switch (Peek()) {
      case '{':
        value.kind_ = Json::Kind::kObject;
        List('}', [&] {
          std::string name = String();
          Expect(':');
          value.members_.emplace(std::move(name), Value());
        });
        return value;
      case '[':
        value.kind_ = Json::Kind::kArray;
        List(']', [&] { value.elements_.push_back(Value()); });
        return value;
      case '"':
        value.kind_ = Json::Kind::kString;
        value.text_ = String();
        return value;
      default:
        value.text_ = Word();
        value.kind_ = value.text_ == "null"                             ? Json::Kind::kNull
                      : value.text_ == "true" || value.text_ == "false" ? Json::Kind::kBool
                                                                        : Json::Kind::kNumber;
        return value;
    }
  }

  template <typename Item>
  void List(char close, const Item& item) {
    ++p_;
    if (Peek() == close) {
      ++p_;
      return;
    }
    while (true) {
      item();
      if (Peek() == close) break;
      Expect(',');
    }
    ++p_;
  }

  std::string String() {
    Expect('"');
    std::string result;
    while (p_ != end_ && *p_ != '"') {
      if (*p_ == '\\') {
        if (++p_ == end_) Die("unfinished string");
        const char escape = *p_;
        if (escape == 'u') {
          if (end_ - p_ < 5) Die("unfinished string");
          result.push_back(static_cast<char>(std::stoi(std::string(p_ + 1, 4), nullptr, 16)));
          p_ += 5;
          continue;
        }
        result.push_back(escape == 'n' ? '\n' : escape == 't' ? '\t' : escape);
        ++p_;
      } else {
        result.push_back(*p_++);
      }
    }
    Expect('"');
    return result;
  }

  std::string Word() {
    std::string result;
    while (p_ != end_ && (std::isalnum(static_cast<unsigned char>(*p_)) != 0 || *p_ == '-' ||
                          *p_ == '+' || *p_ == '.')) {
      result.push_back(*p_++);
    }
    if (result.empty()) Die("not JSON");
    return result;
  }

  void SkipSpace() {
    while (p_ != end_ && std::isspace(static_cast<unsigned char>(*p_)) != 0) ++p_;
  }
  char Peek() {
    SkipSpace();
    if (p_ == end_) Die("JSON ends too early");
    return *p_;
  }
  void Expect(char c) {
    if (Peek() != c) Die(std::string("JSON: expected ") + c);
    ++p_;
  }

  const char* p_;
  const char* end_;
};

Json Json::Parse(const std::string& text) { return JsonParser(text).ParseAll(); }
Json Json::ParseFile(const std::string& path) { return Parse(ReadTestFile(path)); }

const Json& Json::operator[](const std::string& name) const {
  const auto found = members_.find(name);
  if (found == members_.end()) Die("no member " + name);
  return found->second;
}
const Json& Json::operator[](size_t index) const {
  if (index >= elements_.size()) Die("array too short");
  return elements_[index];
}
uint64_t Json::number() const { return std::strtoull(text_.c_str(), nullptr, 10); }

std::string FromHex(const std::string& hex) {
  std::string bytes;
  for (size_t i = 0; i + 1 < hex.size(); i += 2) {
    bytes.push_back(static_cast<char>(std::stoi(hex.substr(i, 2), nullptr, 16)));
  }
  return bytes;
}

std::string ReadTestFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) Die("cannot read " + path);
  return std::string(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
}

}  // namespace ashlar
