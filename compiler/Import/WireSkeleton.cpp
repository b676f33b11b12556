//===- WireSkeleton.cpp - a model's bytes without its weights -------------===//
//
// Owns a checked walk over protobuf's wire format, guided by which fields of ONNX's messages lead to tensors.
//
//===----------------------------------------------------------------------===//
#include "compiler/Import/WireSkeleton.h"

#include <cstdint>

using namespace trn;

namespace {
/// Raw data of at least this many bytes stays in the file. Smaller data is cheaper to copy than to track.
constexpr size_t kPayloadBytes = 256;
/// Messages inside messages, as many as protobuf's own readers take; a subgraph is three.
constexpr unsigned kMaxDepth = 100;

enum class Message { Opaque, Model, Graph, Node, Attribute, Tensor, SparseTensor, Function, Training };

/// The message behind field `number` of `message`, Opaque when no tensor can be in it (field numbers: onnx-ml.proto).
Message childOf(Message message, unsigned number) {
  switch (message) {
  case Message::Model:
    return number == 7    ? Message::Graph
           : number == 20 ? Message::Training
           : number == 25 ? Message::Function
                          : Message::Opaque;
  case Message::Training:
    return number == 1 || number == 2 ? Message::Graph : Message::Opaque;
  case Message::Graph:
    return number == 1    ? Message::Node
           : number == 5  ? Message::Tensor
           : number == 15 ? Message::SparseTensor
                          : Message::Opaque;
  case Message::Function:
    return number == 7 ? Message::Node : number == 11 ? Message::Attribute : Message::Opaque;
  case Message::Node:
    return number == 5 ? Message::Attribute : Message::Opaque;
  case Message::Attribute:
    if (number == 5 || number == 10)
      return Message::Tensor;
    if (number == 22 || number == 23)
      return Message::SparseTensor;
    return number == 6 || number == 11 ? Message::Graph : Message::Opaque;
  case Message::SparseTensor:
    return number == 1 || number == 2 ? Message::Tensor : Message::Opaque;
  case Message::Tensor:
  case Message::Opaque:
    return Message::Opaque;
  }
  return Message::Opaque;
}

constexpr unsigned kRawDataField = 9;

class Splitter {
public:
  Splitter(WireSkeleton &skeleton, std::string &error) : skeleton(skeleton), error(error) {}

  bool split(llvm::ArrayRef<char> in, Message message, std::string &out, unsigned depth) {
    if (depth > kMaxDepth)
      return fail("expected at most " + std::to_string(kMaxDepth) + " levels of nesting");
    while (!in.empty()) {
      llvm::ArrayRef<char> field = in;
      uint64_t tag;
      if (!readVarint(in, tag))
        return false;
      unsigned number = tag >> 3, wireType = tag & 7;
      if ((tag >> 3) == 0 || (tag >> 3) > 536870911)
        return fail("expected a field number");
      if (wireType != 2) {
        if (!skipScalar(in, wireType))
          return false;
        // Nobody but this class sets the payload's number.
        if (!(message == Message::Tensor && number == kPayloadField))
          append(out, field.drop_back(in.size()));
        continue;
      }
      uint64_t length;
      if (!readVarint(in, length))
        return false;
      if (length > in.size())
        return fail("expected " + std::to_string(length) + " more bytes but the file ends after " +
                    std::to_string(in.size()));
      llvm::ArrayRef<char> body = in.take_front(length);
      in = in.drop_front(length);
      if (!splitField(field.drop_back(in.size()), number, body, message, out, depth))
        return false;
    }
    return true;
  }

private:
  bool splitField(llvm::ArrayRef<char> whole, unsigned number, llvm::ArrayRef<char> body, Message message,
                  std::string &out, unsigned depth) {
    if (message == Message::Tensor && number == kPayloadField)
      return true;
    if (message == Message::Tensor && number == kRawDataField && body.size() >= kPayloadBytes) {
      skeleton.payloads.push_back(body);
      writeVarint(out, uint64_t(kPayloadField) << 3);
      writeVarint(out, skeleton.payloads.size());
      return true;
    }
    Message child = childOf(message, number);
    if (child == Message::Opaque) {
      append(out, whole);
      return true;
    }
    std::string inner;
    if (!split(body, child, inner, depth + 1))
      return false;
    writeVarint(out, uint64_t(number) << 3 | 2);
    writeVarint(out, inner.size());
    out += inner;
    return true;
  }

  bool skipScalar(llvm::ArrayRef<char> &in, unsigned wireType) {
    uint64_t ignored;
    if (wireType == 0)
      return readVarint(in, ignored);
    size_t size = wireType == 1 ? 8 : wireType == 5 ? 4 : 0;
    if (size == 0)
      return fail("expected a wire type of 0, 1, 2 or 5 but got " + std::to_string(wireType));
    if (in.size() < size)
      return fail("the file ends inside a field");
    in = in.drop_front(size);
    return true;
  }

  bool readVarint(llvm::ArrayRef<char> &in, uint64_t &value) {
    value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      if (in.empty())
        return fail("the file ends inside a field");
      uint8_t byte = in.front();
      in = in.drop_front();
      value |= uint64_t(byte & 0x7f) << shift;
      if (!(byte & 0x80))
        return true;
    }
    return fail("expected a number of at most ten bytes");
  }

  static void writeVarint(std::string &out, uint64_t value) {
    for (; value >= 0x80; value >>= 7)
      out.push_back(char(value | 0x80));
    out.push_back(char(value));
  }

  static void append(std::string &out, llvm::ArrayRef<char> bytes) { out.append(bytes.data(), bytes.size()); }

  bool fail(std::string message) {
    error = std::move(message);
    return false;
  }

  WireSkeleton &skeleton;
  std::string &error;
};
} // namespace

bool trn::makeWireSkeleton(llvm::ArrayRef<char> model, WireSkeleton &skeleton, std::string &error) {
  return Splitter(skeleton, error).split(model, Message::Model, skeleton.bytes, 0);
}
