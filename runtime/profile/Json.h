//===- Json.h - writing JSON ------------------------------------------------===//
//
// Owns the little that the reports need of JSON: keys in the order in which they are written, numbers that read back
// the same everywhere, escaped text that is safe inside an HTML script element. Refuses to read.
//
//===----------------------------------------------------------------------===//
#pragma once
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>

namespace trn::rt {

class Json {
public:
  Json &beginObject(std::string_view key = {}) { return open(key, '{'); }
  Json &endObject() { return close('}'); }
  Json &beginArray(std::string_view key = {}) { return open(key, '['); }
  Json &endArray() { return close(']'); }

  Json &text(std::string_view key, std::string_view value) {
    name(key);
    quote(value);
    return *this;
  }
  Json &integer(std::string_view key, int64_t value) {
    name(key);
    out += std::to_string(value);
    return *this;
  }
  /// At most nine significant digits; what is no number is null.
  Json &number(std::string_view key, double value) {
    name(key);
    if (!std::isfinite(value)) {
      out += "null";
      return *this;
    }
    char buffer[32];
    std::snprintf(buffer, sizeof buffer, "%.9g", value);
    for (char *c = buffer; *c; ++c)
      if (*c == ',')
        *c = '.'; // a locale's decimal comma
    out += buffer;
    return *this;
  }
  /// Starts a new line: the output is for people as well.
  Json &line() {
    pendingLine = true;
    return *this;
  }
  std::string take() { return std::move(out); }

private:
  void name(std::string_view key) {
    if (!first)
      out += ',';
    if (pendingLine)
      out += '\n';
    pendingLine = first = false;
    if (!key.empty()) {
      quote(key);
      out += ':';
    }
  }
  Json &open(std::string_view key, char bracket) {
    name(key);
    out += bracket;
    first = true;
    return *this;
  }
  Json &close(char bracket) {
    if (pendingLine)
      out += '\n';
    pendingLine = first = false;
    out += bracket;
    return *this;
  }
  void quote(std::string_view value) {
    out += '"';
    for (unsigned char c : value) {
      char buffer[8];
      if (c == '"' || c == '\\') {
        out += '\\';
        out += static_cast<char>(c);
      } else if (c < 0x20 || c == '<' || c == '>' || c == '&' || c == 0x7f) {
        std::snprintf(buffer, sizeof buffer, "\\u%04x", c);
        out += buffer;
      } else {
        out += static_cast<char>(c);
      }
    }
    out += '"';
  }

  std::string out;
  bool first = true;
  bool pendingLine = false;
};

} // namespace trn::rt
