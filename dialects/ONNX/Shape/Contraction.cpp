//===- Contraction.cpp - shape rules of matrix products -------------------===//
//
// Owns MatMul (numpy's rules), Gemm and Einsum (with its implicit output).
//
//===----------------------------------------------------------------------===//
#include "dialects/ONNX/Ops/Contraction.h"
#include "dialects/ONNX/Ops/Quantization.h"
#include "dialects/ONNX/Shape/Inference.h"

#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

#include <map>

using namespace mlir;
using namespace trn::onnx;

/// numpy.matmul of two operands; the result's element type is the rule's.
static LogicalResult matMulResult(Inference &in, Value lhs, Value rhs, Value result, Type element) {
  std::optional<Sizes> a = in.sizes(lhs), b = in.sizes(rhs);
  if (!a || !b)
    return in.result(result, element, std::nullopt);
  if (a->empty() || b->empty())
    return in.fail("expected operands of rank 1 or more but got a scalar");
  bool rowVector = a->size() == 1, columnVector = b->size() == 1;
  Sizes left(*a), right(*b);
  if (rowVector)
    left.insert(left.begin(), 1);
  if (columnVector)
    right.push_back(1);
  int64_t inner = left.back(), other = right[right.size() - 2];
  if (isStatic(inner) && isStatic(other) && inner != other)
    return in.fail("expected equal inner sizes but got " + printSizes(*a) + " and " + printSizes(*b));
  FailureOr<Sizes> batch = broadcastSizes(ArrayRef<int64_t>(left).drop_back(2), ArrayRef<int64_t>(right).drop_back(2));
  if (failed(batch))
    return in.fail("expected batch sizes that broadcast but got " + printSizes(*a) + " and " + printSizes(*b));
  Sizes sizes = *batch;
  if (!rowVector)
    sizes.push_back(left[left.size() - 2]);
  if (!columnVector)
    sizes.push_back(right.back());
  return in.result(result, element, sizes);
}

LogicalResult shape::matMul(Inference &in) {
  auto op = cast<MatMulOp>(in.operation());
  if (failed(in.sameElement(op.getA(), op.getB())))
    return failure();
  return matMulResult(in, op.getA(), op.getB(), op.getY(), in.element(op.getA()));
}

LogicalResult shape::matMulInteger(Inference &in) {
  auto op = cast<MatMulIntegerOp>(in.operation());
  return matMulResult(in, op.getA(), op.getB(), op.getY(), IntegerType::get(op.getContext(), 32));
}

LogicalResult shape::qlinearMatMul(Inference &in) {
  auto op = cast<QLinearMatMulOp>(in.operation());
  return matMulResult(in, op.getA(), op.getB(), op.getY(), in.element(op.getYZeroPoint()));
}

LogicalResult shape::gemm(Inference &in) {
  auto op = cast<GemmOp>(in.operation());
  if (failed(in.sameElement(op.getA(), op.getB())) || (op.getC() && failed(in.sameElement(op.getA(), op.getC()))))
    return failure();
  std::optional<Sizes> a = in.sizes(op.getA()), b = in.sizes(op.getB());
  if (!a || !b)
    return in.result(op.getY(), in.element(op.getA()), Sizes(2, kDynamic));
  if (a->size() != 2 || b->size() != 2)
    return in.fail("expected matrices but got " + printSizes(*a) + " and " + printSizes(*b));
  int64_t m = (*a)[op.getTransA()], k = (*a)[!op.getTransA()], k2 = (*b)[op.getTransB()], n = (*b)[!op.getTransB()];
  if (isStatic(k) && isStatic(k2) && k != k2)
    return in.fail("expected equal inner sizes but got " + Twine(k) + " and " + Twine(k2));
  Sizes result = {m, n};
  if (op.getC()) {
    std::optional<Sizes> c = in.sizes(op.getC());
    FailureOr<Sizes> both = c ? broadcastSizes(result, *c) : FailureOr<Sizes>(result);
    if (failed(both) || both->size() != 2 || (allStatic(result) && c && allStatic(*c) && *both != result))
      return in.fail("expected operand 'c' to broadcast to " + printSizes(result) + " but got " + printSizes(*c));
  }
  return in.result(op.getY(), in.element(op.getA()), result);
}

/// The equation with letters for the dimensions that ellipses stand for, the same ones from the back in every term; an
/// empty text when a rank that decides their number is not known. Output terms get them where they are written, or first.
static FailureOr<std::string> withoutEllipses(Inference &in, EinsumOp op, StringRef equation) {
  static constexpr StringRef kEllipsis = "...";
  StringRef letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
  std::string free;
  for (char letter : letters)
    if (!equation.contains(letter))
      free.push_back(letter);
  auto [left, right] = equation.split("->");
  SmallVector<StringRef> terms;
  left.split(terms, ',');
  size_t most = 0;
  SmallVector<std::string> written;
  for (auto [term, input] : llvm::zip(terms, op.getInputs())) {
    auto [before, after] = term.split(kEllipsis);
    if (!term.contains(kEllipsis)) {
      written.push_back(term.str());
      continue;
    }
    std::optional<Sizes> sizes = in.sizes(input);
    if (!sizes)
      return std::string();
    size_t named = before.size() + after.size(), count = sizes->size() - named;
    if (sizes->size() < named || count > free.size())
      return in.fail("expected rank " + Twine(named) + " or more for term '" + term + "' but got " + printSizes(*sizes));
    most = std::max(most, count);
    written.push_back(before.str() + free.substr(free.size() - count) + after.str());
  }
  std::string result = llvm::join(written, ","), all = free.substr(free.size() - most);
  if (!equation.contains("->")) {
    result += "->" + all;
    for (char letter : letters)
      if (left.count(letter) == 1)
        result.push_back(letter);
    return result;
  }
  auto [before, after] = right.split(kEllipsis);
  return result + "->" + before.str() + (right.contains(kEllipsis) ? all : std::string()) + after.str();
}

LogicalResult shape::einsum(Inference &in) {
  auto op = cast<EinsumOp>(in.operation());
  if (op.getInputs().empty())
    return in.fail("expected at least one operand but got none");
  std::string equation = op.getEquation().str();
  llvm::erase(equation, ' ');
  bool explicitOutput = StringRef(equation).contains("->");
  for (char c : equation)
    if (!llvm::isAlpha(c) && c != ',' && c != '-' && c != '>' && c != '.')
      return in.fail("expected an equation of letters, '...', ',' and '->' but got '" + op.getEquation() + "'");
  StringRef terms, output;
  std::tie(terms, output) = StringRef(equation).split("->");
  SmallVector<StringRef> parts;
  terms.split(parts, ',');
  if (parts.size() != op.getInputs().size())
    return in.fail("expected " + Twine(op.getInputs().size()) + " terms in '" + op.getEquation() + "' but got " +
                   Twine(parts.size()));
  for (Value input : op.getInputs())
    if (failed(in.sameElement(op.getInputs().front(), input)))
      return failure();
  if (StringRef(equation).contains('.')) {
    FailureOr<std::string> plain = withoutEllipses(in, op, equation);
    if (failed(plain))
      return failure();
    if (plain->empty())
      return in.result(op.getY(), in.element(op.getInputs().front()), std::nullopt);
    if (StringRef(*plain).contains('.'))
      return in.fail("expected at most one '...' in each term but got '" + op.getEquation() + "'");
    equation = *plain;
    in.set("equation", StringAttr::get(op.getContext(), equation));
    std::tie(terms, output) = StringRef(equation).split("->");
    parts.clear();
    terms.split(parts, ',');
    explicitOutput = true;
  }
  std::map<char, int64_t> sizeOf;
  std::map<char, int> uses;
  for (auto [term, input] : llvm::zip(parts, op.getInputs())) {
    for (char c : term) {
      ++uses[c];
      sizeOf.emplace(c, 1);
    }
    std::optional<Sizes> sizes = in.sizes(input);
    if (!sizes) {
      for (char c : term)
        sizeOf[c] = kDynamic;
      continue;
    }
    if (sizes->size() != term.size())
      return in.fail("expected rank " + Twine(term.size()) + " for term '" + term + "' but got " + printSizes(*sizes));
    for (auto [c, size] : llvm::zip(term, *sizes)) {
      // A dimension of one element goes with any size.
      int64_t &known = sizeOf[c];
      if (isStatic(known) && isStatic(size) && known != size && known != 1 && size != 1)
        return in.fail("expected one size for '" + Twine(c) + "' but got " + Twine(known) + " and " + Twine(size));
      if (known == 1 || (isStatic(size) && size != 1))
        known = size;
    }
  }
  std::string implicit;
  if (!explicitOutput) {
    for (auto [c, count] : uses)
      if (count == 1)
        implicit.push_back(c);
    output = implicit;
  }
  Sizes result;
  for (char c : output) {
    auto it = sizeOf.find(c);
    if (it == sizeOf.end())
      return in.fail("expected output letters of the inputs but got '" + Twine(c) + "'");
    if (output.count(c) > 1)
      return in.fail("expected each letter once in the output but got '" + Twine(output) + "'");
    result.push_back(it->second);
  }
  return in.result(op.getY(), in.element(op.getInputs().front()), result);
}

LogicalResult shape::det(Inference &in) {
  auto op = cast<DetOp>(in.operation());
  std::optional<Sizes> x = in.sizes(op.getX());
  if (!x)
    return in.result(op.getY(), in.element(op.getX()), std::nullopt);
  if (x->size() < 2 || (isStatic(x->back()) && isStatic((*x)[x->size() - 2]) && x->back() != (*x)[x->size() - 2]))
    return in.fail("expected square matrices but got " + printSizes(*x));
  return in.result(op.getY(), in.element(op.getX()), Sizes(x->begin(), x->end() - 2));
}
