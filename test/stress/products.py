"""Products of matrices whose sizes divide nothing, both operands inputs, in fp32 and with --auto-cast matmult, compiled, run
with every check on and compared with ONNX Runtime.

usage: products.py --build BUILD [--count N] [--first SEED] [--targets trn2,...] [--seconds S]

Sizes lie just beside multiples of 128 and of one PSUM bank, or are primes: their chunks on the partitions are uneven, and the
turns and the casts of the operands are split into uneven parts. The seeds are the same on every machine.
"""
import argparse
import pathlib
import sys
import tempfile
import time

import numpy as np

import harness

PRIMES = (131, 389, 521, 641, 1031, 1153, 2039)
# bf16 keeps 8 bits, so each product is off by at most 2^-8 of itself, and the largest sum by less than that.
TOLERANCES = {"none": harness.TOLERANCE, "matmult": 2e-2}


def size(rng, most):
    """An extent that no tile divides."""
    if rng.integers(4) == 0:
        return int(rng.choice([p for p in PRIMES if p <= most]))
    beside = int(rng.choice((128, 512))) * int(rng.integers(1, 9)) + int(rng.choice((-3, -1, 1, 2, 4)))
    return min(beside, most - 1)


def case(seed):
    """The sizes of one product: rows, contracted, columns. The first ones once ended in a defect."""
    known = ((1023, 257, 1025), (1023, 129, 1025), (2047, 131, 517), (1000, 260, 1032))
    if seed < len(known):
        return known[seed]
    rng = np.random.default_rng(seed)
    return size(rng, 2200), size(rng, 1200), size(rng, 1200)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", required=True, type=pathlib.Path)
    parser.add_argument("--count", type=int, default=12)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--targets", default="trn2")
    parser.add_argument("--seconds", type=int, default=60, help="for each command")
    parser.add_argument("--verbose", action="store_true", help="a line for products that pass, too")
    arguments = parser.parse_args()
    failed, tried, start = 0, 0, time.perf_counter()
    for seed in range(arguments.first, arguments.first + arguments.count):
        rows, contracted, columns = case(seed)
        rng = np.random.default_rng(seed)
        graph = harness.Graph()
        graph.output(graph.node("MatMul", graph.input(rng.standard_normal((rows, contracted)).astype(np.float32)),
                                graph.input(rng.standard_normal((contracted, columns)).astype(np.float32))))
        for target in arguments.targets.split(","):
            for cast, tolerance in TOLERANCES.items():
                with tempfile.TemporaryDirectory() as folder:
                    try:
                        problems = harness.check(graph, arguments.build / "bin" / "trnc", target, folder,
                                                 arguments.seconds, [f"--auto-cast={cast}"], tolerance)
                    except harness.Refused as error:
                        problems = [str(error)]
                if problems or arguments.verbose:
                    print(f"{'FAILED' if problems else 'ok':<8}seed {seed} on {target}, --auto-cast {cast}: "
                          f"{rows} x {contracted} x {columns}", flush=True)
                for problem in problems:
                    print(f"    {problem}", flush=True)
                failed += bool(problems)
                tried += 1
    print(f"{tried} products, {failed} failed, {time.perf_counter() - start:.1f} s")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
