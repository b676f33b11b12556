//===- Movement.td - ONNX operators that move or shape data ---------------===//
//
// Owns reshaping, transposing, joining, cutting, padding, resizing, and the operators that make a tensor from a shape.
// Shape operands become attributes as soon as they are constant.
//
//===----------------------------------------------------------------------===//
#ifndef TRN_DIALECTS_ONNX_OPS_MOVEMENT
#define TRN_DIALECTS_ONNX_OPS_MOVEMENT

include "dialects/ONNX/Ops/Base.td"

/// After inference `shape` is the whole static shape (no 0, no -1).
def ONNX_ReshapeOp : ONNX_Op<"Reshape", [1, 5, 13, 14, 19, 21, 23, 24, 25], "reshape"> {
  let arguments = (ins ONNX_Tensor:$x, Optional<ONNX_I64Tensor>:$shape_operand,
                       OptionalAttr<DenseI64ArrayAttr>:$shape, DefaultValuedAttr<BoolAttr, "false">:$allowzero);
  let results = (outs ONNX_Tensor:$y);
  let operandsFrom = [From<"shape_operand", 5>];
  let attributesFrom = [From<"allowzero", 14>];
  let attributesUntil = [Until<"shape", 5>];
  let legacy = [Legacy<"consumed_inputs", "INTS", 5>];
  let counted = "reshape";
  let moves = [Move<"shape_operand", "shape">];
}

def ONNX_TransposeOp : ONNX_Op<"Transpose", [1, 13, 21, 23, 24, 25], "transpose"> {
  let arguments = (ins ONNX_Tensor:$x, OptionalAttr<DenseI64ArrayAttr>:$perm);
  let results = (outs ONNX_Tensor:$y);
  let counted = "transpose";
}

def ONNX_ConcatOp : ONNX_Op<"Concat", [1, 4, 11, 13], "concat"> {
  let arguments = (ins Variadic<ONNX_Tensor>:$inputs, I64Attr:$axis);
  let results = (outs ONNX_Tensor:$y);
  let attributesFrom = [From<"axis", 4>];
  let legacy = [Legacy<"axis", "INT", 4>];
  let upgrades = [Upgrade<4, "concatOnChannels">];
  let counted = "concat";
}

/// After inference `split` has one size per result.
def ONNX_SplitOp : ONNX_Op<"Split", [2, 11, 13, 18], "split"> {
  let arguments = (ins ONNX_Tensor:$x, Optional<ONNX_I64Tensor>:$split_operand, DefaultValuedAttr<I64Attr, "0">:$axis,
                       OptionalAttr<DenseI64ArrayAttr>:$split, OptionalAttr<I64Attr>:$num_outputs);
  let results = (outs Variadic<ONNX_Tensor>:$parts);
  let operandsFrom = [From<"split_operand", 13>];
  let attributesFrom = [From<"num_outputs", 18>];
  let attributesUntil = [Until<"split", 13>];
  let moves = [Move<"split_operand", "split">];
  let counted = "split";
}

/// After inference all four lists are present and `starts`, `ends` are inside the dimension; under a
/// negative step, `ends = -dim - 1` is "before the first element", as in the standard.
def ONNX_SliceOp : ONNX_Op<"Slice", [1, 10, 11, 13], "slice", [AttrSizedOperandSegments]> {
  let arguments = (ins ONNX_Tensor:$x, Optional<ONNX_IndexTensor>:$starts_operand,
                       Optional<ONNX_IndexTensor>:$ends_operand, Optional<ONNX_IndexTensor>:$axes_operand,
                       Optional<ONNX_IndexTensor>:$steps_operand, OptionalAttr<DenseI64ArrayAttr>:$starts,
                       OptionalAttr<DenseI64ArrayAttr>:$ends, OptionalAttr<DenseI64ArrayAttr>:$axes,
                       OptionalAttr<DenseI64ArrayAttr>:$steps);
  let results = (outs ONNX_Tensor:$y);
  let operandsFrom = [From<"starts_operand", 10>, From<"ends_operand", 10>, From<"axes_operand", 10>,
                      From<"steps_operand", 10>];
  let attributesUntil = [Until<"starts", 10>, Until<"ends", 10>, Until<"axes", 10>];
  let canonical = ["steps"];
  let moves = [Move<"starts_operand", "starts">, Move<"ends_operand", "ends">, Move<"axes_operand", "axes">,
               Move<"steps_operand", "steps">];
  let counted = "slice";
}

/// After inference `pads` covers all dimensions (begins, then ends) and `axes` is gone. `value` absent: zero.
def ONNX_PadOp : ONNX_Op<"Pad", [1, 2, 11, 13, 18, 19, 21, 23, 24, 25], "pad", [AttrSizedOperandSegments]> {
  let arguments = (ins ONNX_Tensor:$x, Optional<ONNX_I64Tensor>:$pads_operand, Optional<ONNX_Tensor>:$value_operand,
                       Optional<ONNX_IndexTensor>:$axes_operand, OptionalAttr<DenseI64ArrayAttr>:$pads,
                       OptionalAttr<TypedAttrInterface>:$value, OptionalAttr<DenseI64ArrayAttr>:$axes,
                       DefaultValuedStrAttr<StrAttr, "constant">:$mode);
  let results = (outs ONNX_Tensor:$y);
  let operandsFrom = [From<"pads_operand", 11>, From<"value_operand", 11>, From<"axes_operand", 18>];
  let attributesFrom = [From<"pads", 2>];
  let attributesUntil = [Until<"pads", 11>, Until<"value", 11>];
  let legacy = [Legacy<"paddings", "INTS", 2>];
  let upgrades = [Upgrade<2, "padWithPaddings">];
  let canonical = ["axes"];
  let moves = [Move<"pads_operand", "pads">, Move<"value_operand", "value", 1>, Move<"axes_operand", "axes">];
  let counted = "pad";
}

class ONNX_SqueezeLike<string onnxName, string rule> : ONNX_Op<onnxName, [1, 11, 13, 21, 23, 24, 25], rule> {
  let arguments = (ins ONNX_Tensor:$x, Optional<ONNX_I64Tensor>:$axes_operand, OptionalAttr<DenseI64ArrayAttr>:$axes);
  let results = (outs ONNX_Tensor:$y);
  let operandsFrom = [From<"axes_operand", 13>];
  let attributesUntil = [Until<"axes", 13>];
  let moves = [Move<"axes_operand", "axes">];
  let counted = "reshape";
}
def ONNX_SqueezeOp : ONNX_SqueezeLike<"Squeeze", "squeeze">;
def ONNX_UnsqueezeOp : ONNX_SqueezeLike<"Unsqueeze", "unsqueeze">;

/// Decomposed into Reshape.
def ONNX_FlattenOp : ONNX_Op<"Flatten", [1, 9, 11, 13, 21, 23, 24, 25], "flatten"> {
  let arguments = (ins ONNX_Tensor:$x, DefaultValuedAttr<I64Attr, "1">:$axis);
  let results = (outs ONNX_Tensor:$y);
  let counted = "reshape";
}

/// `shape` broadcasts with the input's shape, both ways; after inference it is the result's shape.
def ONNX_ExpandOp : ONNX_Op<"Expand", [8, 13], "expand"> {
  let arguments = (ins ONNX_Tensor:$x, Optional<ONNX_I64Tensor>:$shape_operand, OptionalAttr<DenseI64ArrayAttr>:$shape);
  let results = (outs ONNX_Tensor:$y);
  let canonical = ["shape"];
  let moves = [Move<"shape_operand", "shape">];
  let counted = "expand";
}

def ONNX_TileOp : ONNX_Op<"Tile", [6, 13], "tile"> {
  let arguments = (ins ONNX_Tensor:$x, Optional<ONNX_I64Tensor>:$repeats_operand,
                       OptionalAttr<DenseI64ArrayAttr>:$repeats);
  let results = (outs ONNX_Tensor:$y);
  let canonical = ["repeats"];
  let moves = [Move<"repeats_operand", "repeats">];
  let counted = "tile";
}

/// Always folded: shapes are static after inference.
def ONNX_ShapeOp : ONNX_Op<"Shape", [1, 13, 15, 19, 21, 23, 24, 25], "shapeOf"> {
  let arguments = (ins ONNX_Tensor:$x, DefaultValuedAttr<I64Attr, "0">:$start, OptionalAttr<I64Attr>:$end);
  let results = (outs ONNX_I64Tensor:$y);
  let attributesFrom = [From<"start", 15>, From<"end", 15>];
  let counted = "sizes";
}
def ONNX_SizeOp : ONNX_Op<"Size", [1, 13, 19, 21, 23, 24, 25], "sizeOf"> {
  let arguments = (ins ONNX_Tensor:$x);
  let results = (outs ONNX_I64Tensor:$y);
  let counted = "sizes";
}

/// Always folded, to a splat.
def ONNX_ConstantOfShapeOp : ONNX_Op<"ConstantOfShape", [9, 20, 21, 23, 24, 25], "constantOfShape"> {
  let arguments = (ins Optional<ONNX_I64Tensor>:$shape_operand, OptionalAttr<DenseI64ArrayAttr>:$shape,
                       OptionalAttr<ElementsAttr>:$value);
  let results = (outs ONNX_Tensor:$y);
  let canonical = ["shape"];
  let moves = [Move<"shape_operand", "shape">];
}

/// Folded: the length must be known.
def ONNX_RangeOp : ONNX_Op<"Range", [11, 27], "range"> {
  let arguments = (ins ONNX_NumTensor:$start, ONNX_NumTensor:$limit, ONNX_NumTensor:$delta,
                       DefaultValuedAttr<I64Attr, "1">:$stash_type);
  let results = (outs ONNX_NumTensor:$y);
  let attributesFrom = [From<"stash_type", 27>];
  let shapeOperands = ["start", "limit", "delta"];
}

/// After inference `scales` has one factor per dimension (the exact ratio the coordinates use), `sizes`, `axes`, `roi`
/// and their operands are gone, and the result's shape is the output size.
def ONNX_ResizeOp : ONNX_Op<"Resize", [10, 11, 13, 18, 19], "resize", [AttrSizedOperandSegments]> {
  let arguments = (ins ONNX_NumTensor:$x, Optional<ONNX_FloatTensor>:$roi_operand,
                       Optional<ONNX_FloatTensor>:$scales_operand, Optional<ONNX_I64Tensor>:$sizes_operand,
                       OptionalAttr<DenseF32ArrayAttr>:$roi, OptionalAttr<DenseF32ArrayAttr>:$scales,
                       OptionalAttr<DenseI64ArrayAttr>:$sizes, OptionalAttr<DenseI64ArrayAttr>:$axes,
                       DefaultValuedStrAttr<StrAttr, "nearest">:$mode,
                       DefaultValuedStrAttr<StrAttr, "half_pixel">:$coordinate_transformation_mode,
                       DefaultValuedStrAttr<StrAttr, "round_prefer_floor">:$nearest_mode,
                       DefaultValuedAttr<F32Attr, "-0.75f">:$cubic_coeff_a,
                       DefaultValuedAttr<BoolAttr, "false">:$exclude_outside,
                       DefaultValuedAttr<F32Attr, "0.0f">:$extrapolation_value,
                       DefaultValuedAttr<BoolAttr, "false">:$antialias,
                       DefaultValuedStrAttr<StrAttr, "stretch">:$keep_aspect_ratio_policy);
  let results = (outs ONNX_NumTensor:$y);
  let operandsFrom = [From<"roi_operand", 11>, From<"sizes_operand", 11>];
  let attributesFrom = [From<"coordinate_transformation_mode", 11>, From<"nearest_mode", 11>, From<"cubic_coeff_a", 11>,
                        From<"exclude_outside", 11>, From<"extrapolation_value", 11>, From<"antialias", 18>,
                        From<"keep_aspect_ratio_policy", 18>, From<"axes", 18>];
  let canonical = ["roi", "scales", "sizes"];
  let moves = [Move<"roi_operand", "roi">, Move<"scales_operand", "scales">, Move<"sizes_operand", "sizes">];
  let upgrades = [Upgrade<11, "resizeAsymmetric">];
  let counted = "items";
}

/// Became Resize; the importer builds `onnx.Resize` with asymmetric coordinates.
def ONNX_UpsampleOp : ONNX_Op<"Upsample", [1, 7, 9, 10], "resizeOld"> {
  let arguments = (ins ONNX_NumTensor:$x, Optional<ONNX_FloatTensor>:$scales_operand,
                       OptionalAttr<DenseF32ArrayAttr>:$scales, DefaultValuedStrAttr<StrAttr, "nearest">:$mode);
  let results = (outs ONNX_NumTensor:$y);
  let operandsFrom = [From<"scales_operand", 9>];
  let attributesFrom = [From<"scales", 7>];
  let attributesUntil = [Until<"scales", 9>];
  let legacy = [Legacy<"height_scale", "FLOAT", 7>, Legacy<"width_scale", "FLOAT", 7>];
  let shapeOperands = ["scales_operand"];
  let upgrades = [Upgrade<11, "upsampleToResize">];
}

def ONNX_DepthToSpaceOp : ONNX_Op<"DepthToSpace", [1, 11, 13], "depthToSpace"> {
  let arguments = (ins ONNX_Tensor:$x, I64Attr:$blocksize, DefaultValuedStrAttr<StrAttr, "DCR">:$mode);
  let results = (outs ONNX_Tensor:$y);
  let attributesFrom = [From<"mode", 11>];
  let counted = "items";
}
def ONNX_SpaceToDepthOp : ONNX_Op<"SpaceToDepth", [1, 13], "spaceToDepth"> {
  let arguments = (ins ONNX_Tensor:$x, I64Attr:$blocksize);
  let results = (outs ONNX_Tensor:$y);
  let counted = "items";
}

/// Cut or filled with zeros at both ends; an odd element is cut, or added, at the end.
def ONNX_CenterCropPadOp : ONNX_Op<"CenterCropPad", [18], "centerCropPad"> {
  let arguments = (ins ONNX_Tensor:$x, Optional<ONNX_IndexTensor>:$shape_operand,
                       OptionalAttr<DenseI64ArrayAttr>:$shape, OptionalAttr<DenseI64ArrayAttr>:$axes);
  let results = (outs ONNX_Tensor:$y);
  let canonical = ["shape"];
  let moves = [Move<"shape_operand", "shape">];
}

def ONNX_TriluOp : ONNX_Op<"Trilu", [14], "trilu"> {
  let arguments = (ins ONNX_Tensor:$x, Optional<ONNX_I64Tensor>:$k_operand, OptionalAttr<I64Attr>:$k,
                       DefaultValuedAttr<BoolAttr, "true">:$upper);
  let results = (outs ONNX_Tensor:$y);
  let canonical = ["k"];
  let moves = [Move<"k_operand", "k">];
}

#endif
