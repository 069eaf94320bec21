// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Functions of the real numbers for kernels, under the names that the gpu dialect's lowering calls. Each is within a few
// units in the last place of its type, over its whole range where nothing else is said; functions of float are those of
// double, rounded. No CUDA toolkit is needed. The build compiles this to bitcode, of which a kernel gets what it calls.
//
// Powers are within a few units times |y log x|. Sines lose digits beyond 2^30.

#include <stdint.h>

#define INFINITE __builtin_inf()
#define NOT_A_NUMBER __builtin_nan("")

static const double kLog2High = 0x1.62e42fefa39efp-1;
static const double kLog2Low = 0x1.abc9e3b39803fp-56;
static const double kLog2e = 0x1.71547652b82fep+0;
static const double kLog10e = 0x1.bcb7b1526e50ep-2;
static const double kPiHalf = 0x1.921fb54442d18p+0;
static const double kPiHalfMiddle = 0x1.1a62633145c07p-54;
static const double kPiHalfLow = -0x1.f1976b7ed8fbcp-110;

static double multiply_add(double a, double b, double c) {
  return __builtin_fma(a, b, c);
}

static uint64_t bits_of(double x) {
  uint64_t bits;
  __builtin_memcpy(&bits, &x, sizeof bits);
  return bits;
}

static double from_bits(uint64_t bits) {
  double x;
  __builtin_memcpy(&x, &bits, sizeof x);
  return x;
}

/// Return x times 2^k, |k| < 2000, in two steps so that neither overflows early.
static double scale(double x, int k) {
  int half = k / 2;
  return x * from_bits((uint64_t)(1023 + half) << 52) *
         from_bits((uint64_t)(1023 + k - half) << 52);
}

/// Return the sum of r^n / n! from n = `first` on, |r| < 0.4, divided by r^first.
static double exponential_series(double r, int first) {
  double sum = 0, factorial = 1;
  for (int n = 2; n < first + 18; ++n)
    factorial *= n;
#pragma clang loop unroll(full)
  for (int n = first + 17; n >= first; --n) {
    sum = multiply_add(sum, r, 1 / factorial);
    if (n > 0)
      factorial /= n;
  }
  return sum;
}

static double exponential(double x) {
  if (x != x)
    return x;
  if (x > 710)
    return INFINITE;
  if (x < -746)
    return 0;
  double k = __builtin_rint(x * kLog2e);
  double r = multiply_add(k, -kLog2High, x);
  r = multiply_add(k, -kLog2Low, r);
  return scale(exponential_series(r, 0), (int)k);
}

static double exponential2(double x) {
  if (x != x)
    return x;
  if (x > 1025)
    return INFINITE;
  if (x < -1080)
    return 0;
  double k = __builtin_rint(x), rest = x - k;
  double r = rest * kLog2High;
  r += multiply_add(rest, kLog2High, -r) + rest * kLog2Low;
  return scale(exponential_series(r, 0), (int)k);
}

static double exponential_less_1(double x) {
  if (__builtin_fabs(x) < 0.35)
    return x * exponential_series(x, 1);
  return exponential(x) - 1;
}

/// Return log(x) for a positive normal or subnormal x as exponent + log of a number
/// between sqrt(1/2) and sqrt(2).
static double split_logarithm(double x, int *exponent) {
  int shift = 0;
  if (x < 0x1p-1022) {
    x *= 0x1p54;
    shift = -54;
  }
  uint64_t bits = bits_of(x);
  int k = (int)(bits >> 52) - 1023;
  double m = from_bits((bits & 0xfffffffffffffu) | ((uint64_t)1023 << 52));
  if (m > 0x1.6a09e667f3bcdp+0) {
    m *= 0.5;
    ++k;
  }
  *exponent = k + shift;
  // With s = f / (2 + f), log(1 + f) = 2 (s + s^3/3 + ...) = f - (f^2/2 - s (f^2/2 +
  // rest)), whose largest part is exact.
  double f = m - 1, s = f / (2 + f), z = s * s, rest = 0;
#pragma clang loop unroll(full)
  for (int n = 12; n >= 1; --n)
    rest = multiply_add(rest, z, 2.0 / (2 * n + 1));
  rest *= z;
  double square = 0.5 * f * f;
  return f - (square - s * (square + rest));
}

/// Return true where log(x) is not a finite number, and what it is then.
static int has_no_logarithm(double x, double *result) {
  if (x > 0 && x < INFINITE)
    return 0;
  *result = x == 0 ? -INFINITE : x < 0 ? NOT_A_NUMBER : x;
  return 1;
}

static double logarithm(double x) {
  double special;
  if (has_no_logarithm(x, &special))
    return special;
  int k;
  double r = split_logarithm(x, &k);
  return multiply_add(k, kLog2High, multiply_add(k, kLog2Low, r));
}

static double logarithm2(double x) {
  double special;
  if (has_no_logarithm(x, &special))
    return special;
  int k;
  double r = split_logarithm(x, &k);
  return multiply_add(r, kLog2e, k);
}

static double logarithm10(double x) { return logarithm(x) * kLog10e; }

static double logarithm_of_1_and(double x) {
  double u = 1 + x;
  if (u == 1 || u == INFINITE)
    return x;
  return logarithm(u) * (x / (u - 1));
}

static double hyperbolic_tangent(double x) {
  double a = __builtin_fabs(x);
  if (!(a < 20))
    return x != x ? x : __builtin_copysign(1, x);
  double e = exponential_less_1(2 * a);
  return __builtin_copysign(e / (e + 2), x);
}

static double hyperbolic_sine(double x) {
  double a = __builtin_fabs(x);
  double e = exponential_less_1(a);
  double half = a > 709 ? 0.5 * exponential(0.5 * a) * exponential(0.5 * a)
                        : 0.5 * (e + e / (e + 1));
  return __builtin_copysign(half, x);
}

static double hyperbolic_cosine(double x) {
  double e = exponential(0.5 * __builtin_fabs(x));
  return 0.5 * e * e + 0.5 / e / e;
}

/// Return sin(x + quarter pi / 2).
static double sine_from(double x, int quarter) {
  if (!(__builtin_fabs(x) < INFINITE))
    return NOT_A_NUMBER;
  double k = __builtin_rint(x / kPiHalf);
  double r = multiply_add(k, -kPiHalf, x);
  r = multiply_add(k, -kPiHalfMiddle, r);
  r = multiply_add(k, -kPiHalfLow, r);
  int64_t turn = ((int64_t)k + quarter) & 3;
  double z = -r * r, sum = 0;
  int odd = !(turn & 1);
  // r - r^3/3! + ... or 1 - r^2/2! + ...
  for (int n = 11; n >= 1; --n)
    sum = multiply_add(sum, 1, 1) * (z / ((2 * n) * (2 * n + (odd ? 1 : -1))));
  double value = odd ? multiply_add(r, sum, r) : 1 + sum;
  return turn & 2 ? -value : value;
}

static double sine(double x) { return x == 0 ? x : sine_from(x, 0); }
static double cosine(double x) { return sine_from(x, 1); }
static double tangent(double x) { return sine(x) / cosine(x); }

static double arc_tangent(double x) {
  double a = __builtin_fabs(x);
  if (x != x)
    return x;
  int inverted = a > 1;
  double t = inverted ? 1 / a : a;
  // Half the angle, twice.
  t = t / (1 + __builtin_sqrt(multiply_add(t, t, 1)));
  t = t / (1 + __builtin_sqrt(multiply_add(t, t, 1)));
  double z = -t * t, sum = 0;
  for (int n = 14; n >= 1; --n)
    sum = multiply_add(sum, z, 1.0 / (2 * n + 1));
  double angle = 4 * multiply_add(t * z, sum, t);
  if (inverted)
    angle = (kPiHalf - angle) + kPiHalfMiddle;
  return __builtin_copysign(angle, x);
}

static double arc_tangent2(double y, double x) {
  if (x != x || y != y)
    return NOT_A_NUMBER;
  int both = __builtin_fabs(x) == INFINITE && __builtin_fabs(y) == INFINITE;
  double angle;
  if (y == 0)
    angle = 0;
  else
    angle = both ? kPiHalf / 2
                 : __builtin_fabs(
                       arc_tangent(__builtin_fabs(y) / __builtin_fabs(x)));
  if (__builtin_copysign(1, x) < 0)
    angle = 2 * kPiHalf - angle;
  return __builtin_copysign(angle, y);
}

static double arc_sine(double x) {
  return arc_tangent2(x, __builtin_sqrt((1 - x) * (1 + x)));
}
static double arc_cosine(double x) {
  return arc_tangent2(__builtin_sqrt((1 - x) * (1 + x)), x);
}

/// 2 / sqrt(pi) exp(-x^2) (x + 2 x^3 / 3 + 4 x^5 / 15 + ...), all of one sign.
static double error_function(double x) {
  double a = __builtin_fabs(x);
  if (x != x)
    return x;
  if (a > 6)
    return __builtin_copysign(1, x);
  double term = a, sum = a, z = 2 * a * a;
  for (int n = 1; n < 200 && term > 0x1p-60 * sum; ++n) {
    term *= z / (2 * n + 1);
    sum += term;
  }
  double value = 0x1.20dd750429b6dp+0 * exponential(-a * a) * sum;
  return __builtin_copysign(value > 1 ? 1 : value, x);
}

/// exp(-x^2) / sqrt(pi) / (x + 1/2 / (x + 2/2 / (x + 3/2 / (x + ...)))).
static double complementary_error_function(double x) {
  if (x != x)
    return x;
  if (x < 1)
    return 1 - error_function(x);
  if (x > 28)
    return 0;
  double tail = x;
  for (int n = x < 2 ? 240 : 80; n > 0; --n)
    tail = x + 0.5 * n / tail;
  // The square of the first half of the digits is exact.
  double most = (double)(float)x;
  double power =
      exponential(-most * most) * exponential(-(x - most) * (x + most));
  return 0x1.20dd750429b6dp-1 * power / tail;
}

static double remainder_of(double x, double y) {
  double r = __builtin_fabs(x), d = __builtin_fabs(y);
  if (!(r < INFINITE) || !(d > 0))
    return NOT_A_NUMBER;
  while (r >= d) {
    // The largest d 2^n that is not above r: subtracting it is exact.
    double part = d, next = d;
    for (int step = 512; step >= 1; step /= 2) {
      next = scale(part, step);
      if (next <= r)
        part = next;
    }
    r -= part;
  }
  return __builtin_copysign(r, x);
}

static double area_sine(double x) {
  double a = __builtin_fabs(x);
  double y =
      a > 0x1p27
          ? logarithm(a) + kLog2High
          : logarithm_of_1_and(a + a * a / (1 + __builtin_sqrt(a * a + 1)));
  return __builtin_copysign(y, x);
}

static double area_cosine(double x) {
  if (x > 0x1p27)
    return logarithm(x) + kLog2High;
  double t = x - 1;
  return t >= 0 ? logarithm_of_1_and(t + __builtin_sqrt(t * (t + 2)))
                : NOT_A_NUMBER;
}

static double area_tangent(double x) {
  double a = __builtin_fabs(x);
  double y = logarithm_of_1_and(2 * a / (1 - a)) / 2;
  return x == 0 ? x : __builtin_copysign(y, x);
}

static double power(double x, double y) {
  if (y == 0 || x == 1)
    return 1;
  if (x != x || y != y)
    return NOT_A_NUMBER;
  double whole = __builtin_rint(y);
  int is_whole = whole == y;
  int is_odd = is_whole && __builtin_fabs(y) < 0x1p53 && ((int64_t)y & 1);
  if (is_whole && __builtin_fabs(y) <= 64) {
    int64_t n = (int64_t)__builtin_fabs(y);
    double base = x, result = 1;
    for (; n; n >>= 1, base *= base)
      if (n & 1)
        result *= base;
    return y < 0 ? 1 / result : result;
  }
  if (x < 0 && !is_whole && x > -INFINITE && __builtin_fabs(y) < INFINITE)
    return NOT_A_NUMBER;
  double a = __builtin_fabs(x);
  if (a == 1)
    return is_odd ? x : 1;
  double value = exponential(y * logarithm(a));
  return x < 0 && is_odd ? -value : value;
}

static double cube_root(double x) {
  double a = __builtin_fabs(x);
  if (!(a > 0) || a == INFINITE)
    return x;
  double r = exponential(logarithm(a) / 3);
  r -= (r * r * r - a) / (3 * r * r);
  return __builtin_copysign(r, x);
}

static double rounded(double x) {
  double t = __builtin_trunc(x);
  double far = __builtin_fabs(x - t) >= 0.5 ? __builtin_copysign(1, x) : 0;
  return __builtin_copysign(t + far, x);
}

static double reciprocal_root(double x) { return 1 / __builtin_sqrt(x); }

// The names. What is an instruction or two is one of the kernel's own: a call would move its registers to memory.

#define INLINE __attribute__((always_inline))
#define ONE(name, value)                                                       \
  double __nv_##name(double x) { return value(x); }                            \
  float __nv_##name##f(float x) { return (float)value((double)x); }
#define TWO(name, value)                                                       \
  double __nv_##name(double x, double y) { return value(x, y); }               \
  float __nv_##name##f(float x, float y) {                                     \
    return (float)value((double)x, (double)y);                                 \
  }
/// Exact in both types.
#define EXACT(name, builtin)                                                   \
  INLINE double __nv_##name(double x) { return __builtin_##builtin(x); }       \
  INLINE float __nv_##name##f(float x) { return __builtin_##builtin##f(x); }
/// What approximate arithmetic asks for.
#define FAST(name, value)                                                      \
  float __nv_fast_##name##f(float x) { return (float)value((double)x); }

ONE(exp2, exponential2)
ONE(expm1, exponential_less_1)
ONE(log, logarithm)
ONE(log2, logarithm2)
ONE(log10, logarithm10)
ONE(log1p, logarithm_of_1_and)
ONE(tanh, hyperbolic_tangent)
ONE(sinh, hyperbolic_sine)
ONE(cosh, hyperbolic_cosine)
ONE(sin, sine)
ONE(cos, cosine)
ONE(tan, tangent)
ONE(atan, arc_tangent)
ONE(asin, arc_sine)
ONE(acos, arc_cosine)
ONE(asinh, area_sine)
ONE(acosh, area_cosine)
ONE(atanh, area_tangent)
ONE(erf, error_function)
ONE(erfc, complementary_error_function)
ONE(cbrt, cube_root)
ONE(rsqrt, reciprocal_root)
ONE(round, rounded)
TWO(atan2, arc_tangent2)
TWO(pow, power)
TWO(fmod, remainder_of)
EXACT(sqrt, sqrt)
EXACT(fabs, fabs)
EXACT(floor, floor)
EXACT(ceil, ceil)
EXACT(rint, rint)
EXACT(trunc, trunc)
FAST(exp2, exponential2)
FAST(log, logarithm)
FAST(log2, logarithm2)
FAST(log10, logarithm10)
FAST(sin, sine)
FAST(cos, cosine)
FAST(tan, tangent)
FAST(tanh, hyperbolic_tangent)

double __nv_exp(double x) { return exponential(x); }
double __nv_exp10(double x) { return power(10, x); }

/// The exponential of softmax, in float's own arithmetic.
float __nv_expf(float x) {
  if (x != x)
    return x;
  if (x > 89.0f)
    return (float)INFINITE;
  if (x < -104.0f)
    return 0;
  float k = __builtin_rintf(x * 0x1.715476p+0f);
  float r = __builtin_fmaf(k, -0x1.62e430p-1f, x);
  r = __builtin_fmaf(k, 0x1.05c610p-29f, r);
  float sum = 1.0f / 5040;
  sum = __builtin_fmaf(sum, r, 1.0f / 720);
  sum = __builtin_fmaf(sum, r, 1.0f / 120);
  sum = __builtin_fmaf(sum, r, 1.0f / 24);
  sum = __builtin_fmaf(sum, r, 1.0f / 6);
  sum = __builtin_fmaf(sum, r, 0.5f);
  sum = __builtin_fmaf(sum * r, r, r) + 1;
  int whole = (int)k, half = whole / 2;
  uint32_t first = (uint32_t)(127 + half) << 23;
  uint32_t second = (uint32_t)(127 + whole - half) << 23;
  float a, b;
  __builtin_memcpy(&a, &first, sizeof a);
  __builtin_memcpy(&b, &second, sizeof b);
  return sum * a * b;
}
float __nv_fast_expf(float x) { return __nv_expf(x); }
float __nv_fast_powf(float x, float y) {
  return (float)power((double)x, (double)y);
}

double __nv_powi(double x, int n) { return power(x, n); }
float __nv_powif(float x, int n) { return (float)power((double)x, n); }
INLINE double __nv_fmax(double x, double y) { return __builtin_fmax(x, y); }
INLINE float __nv_fmaxf(float x, float y) { return __builtin_fmaxf(x, y); }
INLINE double __nv_fmin(double x, double y) { return __builtin_fmin(x, y); }
INLINE float __nv_fminf(float x, float y) { return __builtin_fminf(x, y); }
INLINE double __nv_fma(double x, double y, double z) {
  return __builtin_fma(x, y, z);
}
INLINE float __nv_fmaf(float x, float y, float z) {
  return __builtin_fmaf(x, y, z);
}
INLINE double __nv_copysign(double x, double y) {
  return __builtin_copysign(x, y);
}
INLINE float __nv_copysignf(float x, float y) {
  return __builtin_copysignf(x, y);
}
INLINE int __nv_abs(int x) { return x < 0 ? -x : x; }
INLINE long long __nv_llabs(long long x) { return x < 0 ? -x : x; }
INLINE int __nv_isnand(double x) { return x != x; }
INLINE int __nv_isnanf(float x) { return x != x; }
INLINE int __nv_isinfd(double x) { return __builtin_fabs(x) == INFINITE; }
INLINE int __nv_isinff(float x) {
  return __builtin_fabsf(x) == (float)INFINITE;
}
INLINE int __nv_isfinited(double x) { return __builtin_fabs(x) < INFINITE; }
INLINE int __nv_finitef(float x) {
  return __builtin_fabsf(x) < (float)INFINITE;
}
