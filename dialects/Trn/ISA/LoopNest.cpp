//===- LoopNest.cpp - the program of a library_loops call -----------------===//
#include "dialects/Trn/ISA/LoopNest.h"

namespace trn::isa {

const ScalarFunctionInfo *scalarFunction(unsigned number) {
  switch (number) {
#define LANE_int64_t 'i'
#define LANE_float 'f'
#define LANE_double 'd'
#define ROW(number, name, arity, operand, result)                                                                      \
  case number: {                                                                                                       \
    static constexpr ScalarFunctionInfo info{#name, arity, operand, result};                                           \
    return &info;                                                                                                      \
  }
#define REAL1(number, name, op, formula) ROW(number, name, 1, 'r', 'r')
#define REAL2(number, name, op, formula) ROW(number, name, 2, 'r', 'r')
#define REAL3(number, name, op, formula) ROW(number, name, 3, 'r', 'r')
#define TEST1(number, name, op, formula) ROW(number, name, 1, 'r', 'i')
#define INT1(number, name, op, formula) ROW(number, name, 1, 'i', 'i')
#define INT2(number, name, op, formula) ROW(number, name, 2, 'i', 'i')
#define CONVERT(number, name, op, from, to, formula) ROW(number, name, 1, LANE_##from, LANE_##to)
#include "dialects/Trn/ISA/ScalarFunctions.def"
  default:
    return nullptr;
  }
}

char laneClassOf(DType type) { return type == DType::F64 ? 'd' : isFloat(type) ? 'f' : 'i'; }

unsigned integerBits(DType type) { return type == DType::BOOL ? 1 : 8 * byteSize(type); }

uint64_t LoopNest::iterations() const {
  uint64_t product = 1;
  for (int64_t bound : bounds)
    product *= static_cast<uint64_t>(bound);
  return product;
}

namespace {

/// More iterations than any run finishes, and far from overflow with offsets and strides of 32 bits.
constexpr int64_t kMaxIterations = int64_t(1) << 40;

std::string number(int64_t value) { return std::to_string(value); }

struct Parser {
  const AP &dst;
  const std::vector<const AP *> &sources;
  LoopNest &nest;
  std::string &problem;
  std::vector<char> classes; ///< of each value

  bool fail(const std::string &text) {
    problem = text;
    return false;
  }
  const AP &operand(size_t index) const { return index == 0 ? dst : *sources[index - 1]; }

  bool loops(const std::vector<int32_t> &bounds) {
    if (bounds.size() > kMaxLoops)
      return fail("expected at most " + number(kMaxLoops) + " loops, but got " + number(int64_t(bounds.size())));
    int64_t total = 1;
    for (int32_t bound : bounds) {
      if (bound < 1 || total > kMaxIterations / bound)
        return fail("expected loops of 1 to " + number(kMaxIterations) + " iterations in all, but got a bound of " +
                    number(bound));
      total *= bound;
      nest.bounds.push_back(bound);
    }
    return true;
  }

  bool operands(const std::vector<int32_t> &offsets, const std::vector<int32_t> &strides) {
    size_t count = sources.size() + 1, loops = nest.bounds.size();
    if (offsets.size() != count || strides.size() != count * loops)
      return fail("expected an offset for each of " + number(int64_t(count)) + " operands and a stride for each of " +
                  number(int64_t(loops)) + " loops of each, but got " + number(int64_t(offsets.size())) + " and " +
                  number(int64_t(strides.size())));
    for (size_t index = 0; index < count; ++index) {
      if (operand(index).partitions != 1 || !operand(index).contiguous())
        return fail("expected operands that are one row of adjacent elements, but got " + operand(index).str());
      int64_t first = offsets[index], last = first;
      std::vector<int64_t> steps;
      for (size_t loop = 0; loop < loops; ++loop) {
        int64_t stride = strides[index * loops + loop], reach = stride * (nest.bounds[loop] - 1);
        (reach < 0 ? first : last) += reach;
        steps.push_back(stride);
      }
      if (first < 0 || last >= static_cast<int64_t>(operand(index).elements()))
        return fail("expected elements 0 to " + number(int64_t(operand(index).elements()) - 1) + " of operand " +
                    number(int64_t(index)) + ", but got " + number(first) + " to " + number(last));
      nest.offsets.push_back(offsets[index]);
      nest.strides.push_back(std::move(steps));
    }
    return true;
  }

  /// Whether step number `step` may name `value`, and it has lanes of `wanted`.
  bool use(size_t step, int32_t value, char wanted) {
    if (value < 0 || value >= static_cast<int32_t>(classes.size()))
      return fail("step " + number(int64_t(step)) + ": expected a value below " + number(int64_t(classes.size())) +
                  ", but got " + number(value));
    if (classes[value] != wanted)
      return fail("step " + number(int64_t(step)) + ": expected value " + number(value) + " in lanes of '" + wanted +
                  "', but got '" + classes[value] + "'");
    nest.readsDst |= value == static_cast<int32_t>(sources.size());
    return true;
  }

  bool function(size_t index, const LoopStep &step, char from, char to) {
    int64_t which = int64_t(step.code) - kFirstLoopFunction;
    const ScalarFunctionInfo *info = which < 0 ? nullptr : scalarFunction(static_cast<unsigned>(which));
    if (!info)
      return fail("step " + number(int64_t(index)) + ": expected the number of a scalar function, but got " + number(which));
    bool real = from != 'i';
    if (info->operand == 'r' ? !real : info->operand != from)
      return fail("step " + number(int64_t(index)) + ": '" + info->name + "' takes no operands of type " +
                  name(step.operand));
    if ((info->result == 'r' ? from : info->result) != to)
      return fail("step " + number(int64_t(index)) + ": '" + info->name + "' gives no result of type " +
                  name(step.result));
    const int32_t numbers[] = {step.a, step.b, step.c};
    for (unsigned i = 0; i < info->arity; ++i)
      if (!use(index, numbers[i], from))
        return false;
    return true;
  }

  bool step(size_t index, const LoopStep &step) {
    char from = laneClassOf(step.operand), to = laneClassOf(step.result);
    switch (step.code) {
    case kLoopConstant:
      return true;
    case kLoopIndex:
      if (step.a < 0 || step.a >= static_cast<int32_t>(nest.bounds.size()) || to != 'i')
        return fail("step " + number(int64_t(index)) + ": expected an integer position of a loop, but got loop " +
                    number(step.a));
      return true;
    case kLoopGather:
      if (step.a < 0 || step.a >= static_cast<int32_t>(sources.size()) || laneClassOf(sources[step.a]->dtype) != to)
        return fail("step " + number(int64_t(index)) + ": expected a source of the result's type, but got source " +
                    number(step.a));
      return use(index, step.b, 'i');
    case kLoopRound:
      return from == 'f' && to == 'f' ? use(index, step.a, 'f')
                                      : fail("step " + number(int64_t(index)) + ": only floats are rounded");
    case kLoopCompareReal:
    case kLoopCompareInt:
      if (to != 'i' || (from == 'i') != (step.code == kLoopCompareInt) ||
          step.predicate >= (step.code == kLoopCompareInt ? 10 : 16))
        return fail("step " + number(int64_t(index)) + ": a comparison has operands of one class and a known predicate");
      return use(index, step.a, from) && use(index, step.b, from);
    case kLoopSelect:
      return use(index, step.a, 'i') && use(index, step.b, to) && use(index, step.c, to);
    default:
      return function(index, step, from, to);
    }
  }

  bool program(const std::vector<int32_t> &words) {
    if (words.size() % kLoopStepWords != 1 || words.size() / kLoopStepWords > kMaxLoopSteps)
      return fail("expected a program of one word and at most " + number(kMaxLoopSteps) + " steps of " +
                  number(kLoopStepWords) + ", but got " + number(int64_t(words.size())) + " words");
    for (const AP *source : sources)
      classes.push_back(laneClassOf(source->dtype));
    classes.push_back(laneClassOf(dst.dtype));
    for (size_t at = 1; at < words.size(); at += kLoopStepWords) {
      LoopStep next;
      next.code = words[at];
      uint32_t types = static_cast<uint32_t>(words[at + 1]);
      next.operand = static_cast<DType>(types & 0xFF);
      next.result = static_cast<DType>(types >> 8 & 0xFF);
      next.predicate = static_cast<uint8_t>(types >> 16 & 0xFF);
      next.a = words[at + 2];
      next.b = words[at + 3];
      next.c = words[at + 4];
      size_t index = nest.steps.size();
      if (!isKnown(next.operand) || !isKnown(next.result) || types >> 24 != 0)
        return fail("step " + number(int64_t(index)) + " has unknown types");
      if (!step(index, next))
        return false;
      classes.push_back(laneClassOf(next.result));
      nest.steps.push_back(next);
    }
    if (!use(nest.steps.size(), words[0], laneClassOf(dst.dtype)))
      return false;
    nest.stored = static_cast<unsigned>(words[0]);
    return true;
  }
};

} // namespace

bool LoopNest::parse(const AP &dst, const std::vector<const AP *> &sources, const std::vector<int32_t> &bounds,
                     const std::vector<int32_t> &offsets, const std::vector<int32_t> &strides,
                     const std::vector<int32_t> &program, LoopNest &nest, std::string &problem) {
  nest = LoopNest();
  nest.numSources = static_cast<unsigned>(sources.size());
  Parser parser{dst, sources, nest, problem, {}};
  return parser.loops(bounds) && parser.operands(offsets, strides) && parser.program(program);
}

} // namespace trn::isa
