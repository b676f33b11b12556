#!/usr/bin/env python3
"""Fits the polynomials of Math.h and prints them as C++ arrays (highest power last).

Each fit minimises the largest relative error of the whole function, by reweighted least squares on Chebyshev nodes
(Lawson's method) in double precision; the coefficients are then rounded to fp32. Run it to reproduce the tables:
    python3 runtime/emulator/kernels/fit_polynomials.py
"""
import math
import numpy as np


def fit(name, degree, low, high, target, scale):
    """Finds p with p(t) ~ target(t); `scale(t)` is d(relative error of the function) / d(p)."""
    k = np.arange(2000)
    t = 0.5 * (low + high) + 0.5 * (high - low) * np.cos((k + 0.5) * np.pi / 2000)
    y = np.array([target(v) for v in t])
    w = np.array([abs(scale(v)) for v in t])
    # Chebyshev basis for conditioning, converted to powers at the end.
    x = (2 * t - low - high) / (high - low)
    basis = np.polynomial.chebyshev.chebvander(x, degree)
    lawson = np.ones_like(t)
    best = None
    for _ in range(200):
        row = w * np.sqrt(lawson)
        coefficients, *_ = np.linalg.lstsq(basis * row[:, None], y * row, rcond=None)
        error = w * np.abs(basis @ coefficients - y)
        if best is None or error.max() < best[0]:
            best = (error.max(), coefficients)
        lawson *= error / error.max() + 1e-12
        lawson /= lawson.sum()
    power = np.polynomial.chebyshev.Chebyshev(best[1], domain=[low, high]).convert(
        kind=np.polynomial.Polynomial, domain=[-1, 1], window=[-1, 1]).coef
    values = ", ".join(f"{float(np.float32(c)).hex()}f" for c in power)
    print(f"// {name}: degree {degree} on [{low:.6g}, {high:.6g}], largest relative error 2^{math.log2(best[0]):.1f}")
    print(f"constexpr float k{name}[] = {{{values}}};")


def erfcx(z):
    return math.exp(z * z) * math.erfc(z)


def series(t, coefficient, terms=12):
    return sum(coefficient(n) * t**n for n in range(terms))


LN2H = 0.5 * math.log(2) * 1.01
# exp(r) = 1 + r + r^2 p(r)
fit("Exp", 5, -LN2H, LN2H, lambda r: series(r, lambda n: 1 / math.factorial(n + 2), 16),
    lambda r: r * r / math.exp(r))


# log(1 + f) = f - f^2/2 + f^3 p(f)
def log_rest(f):
    if abs(f) < 1e-2:
        return series(f, lambda n: (-1)**n / (n + 3))
    return (math.log1p(f) - f + f * f / 2) / f**3


fit("Log", 9, math.sqrt(0.5) - 1, math.sqrt(2) - 1, log_rest, lambda f: f**3 / math.log1p(f) if f else 0)


# tanh(x) = x + x^3 p(x^2), |x| <= 0.625
def tanh_rest(s):
    if s < 1e-3:
        return -1 / 3 + 2 / 15 * s - 17 / 315 * s * s
    x = math.sqrt(s)
    return (math.tanh(x) - x) / x**3


fit("Tanh", 5, 0, 0.625**2, tanh_rest, lambda s: s * (math.sqrt(s) / math.tanh(math.sqrt(s)) if s else 1))


# erf(x) = x + x p(x^2), |x| <= 1
def erf_rest(s):
    if s == 0:
        return 2 / math.sqrt(math.pi) - 1
    x = math.sqrt(s)
    return math.erf(x) / x - 1


fit("Erf", 7, 0, 1, erf_rest, lambda s: math.sqrt(s) / math.erf(math.sqrt(s)) if s else 1)

# erfc(z) / 2 = exp(-z^2) p(t) / (1 + 2 z), t = (z - 2) / (z + 2), 0 <= z <= 10.2
fit("ErfcTail", 11, -1, 8.2 / 12.2, lambda t: (lambda z: 0.5 * erfcx(z) * (1 + 2 * z))(2 * (1 + t) / (1 - t)),
    lambda t: (lambda z: 1 / (0.5 * erfcx(z) * (1 + 2 * z)))(2 * (1 + t) / (1 - t)))


# sin(y) = y + y^3 p(y^2), |y| <= pi/2
def sin_rest(s):
    return series(s, lambda n: (-1)**(n + 1) / math.factorial(2 * n + 3))


fit("Sin", 4, 0, (math.pi / 2)**2 * 1.001, sin_rest,
    lambda s: s * (math.sqrt(s) / math.sin(math.sqrt(s)) if s else 1))


# atan(x) = x + x^3 p(x^2), |x| <= 1/2
def atan_rest(s):
    if s < 1e-2:
        return series(s, lambda n: (-1)**(n + 1) / (2 * n + 3))
    x = math.sqrt(s)
    return (math.atan(x) - x) / x**3


fit("Atan", 6, 0, 0.25, atan_rest,
    lambda s: s * (math.sqrt(s) / math.atan(math.sqrt(s)) if s else 1))
