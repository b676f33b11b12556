//===- NodeNames.cpp - which ONNX node an operation comes from ------------===//
//
// Owns the walk over locations of NodeNames.h.
//
//===----------------------------------------------------------------------===//
#include "passes/Schedule/NodeNames.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

static bool findNode(Location loc, trn::NodeName &name) {
  return llvm::TypeSwitch<LocationAttr, bool>(LocationAttr(loc))
      .Case([&](NameLoc named) {
        name.node = named.getName().str();
        if (auto child = dyn_cast<FileLineColLoc>(named.getChildLoc()))
          name.op = child.getFilename().str();
        return true;
      })
      .Case([&](CallSiteLoc call) { return findNode(call.getCaller(), name) || findNode(call.getCallee(), name); })
      .Case([&](FusedLoc fused) {
        return llvm::any_of(fused.getLocations(), [&](Location part) { return findNode(part, name); });
      })
      .Case([&](FileLineColLoc file) {
        if (name.note.empty())
          name.note = "line " + std::to_string(file.getLine());
        return false;
      })
      .Default([](LocationAttr) { return false; });
}

trn::NodeName trn::nodeOf(Location loc) {
  NodeName name;
  if (findNode(loc, name))
    name.note.clear();
  return name;
}
