// Compares lib/Runtime/CudaMath.c with libm, at random and at special places.

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static double distance(double got, double wanted, double unit) {
  if (got == wanted || (isnan(got) && isnan(wanted)))
    return 0;
  return fabs(got - wanted) / unit;
}

static void check(const char *name, double x, double got, double wanted,
                  double most) {
  double unit = nextafter(fabs(wanted), INFINITY) - fabs(wanted);
  if (!(distance(got, wanted, unit) <= most))
    printf("wrong: %s(%.17g) = %.17g, should be %.17g\n", name, x, got, wanted);
}

static void check_float(const char *name, float x, float got, float wanted) {
  double unit = (double)(nextafterf(fabsf(wanted), INFINITY) - fabsf(wanted));
  if (!(distance((double)got, (double)wanted, unit) <= 1))
    printf("wrong: %sf(%.9g) = %.9g, should be %.9g\n", name, (double)x,
           (double)got, (double)wanted);
}

static const double special[] = {0, -0.0, INFINITY, -INFINITY, NAN,
                                 1, -1,   0.5,      1e-310};

#define FUNCTION(name, low, high, most)                                        \
  do {                                                                         \
    double __nv_##name(double);                                                \
    float __nv_##name##f(float);                                               \
    for (int i = 0; i < 20000; ++i) {                                          \
      double x = (low) + ((high) - (low)) * drand48();                         \
      check(#name, x, __nv_##name(x), name(x), most);                          \
      float y = (float)x;                                                      \
      check_float(#name, y, __nv_##name##f(y), (float)name((double)y));        \
    }                                                                          \
    for (size_t i = 0; i < sizeof special / sizeof *special; ++i)              \
      check(#name, special[i], __nv_##name(special[i]), name(special[i]),      \
            most);                                                             \
  } while (0)

double __nv_fmod(double, double);
double __nv_atan2(double, double);
double __nv_pow(double, double);

int main(void) {
  FUNCTION(exp, -745, 709, 1);
  FUNCTION(exp, -1, 1, 1);
  FUNCTION(exp2, -1074, 1023, 1);
  FUNCTION(expm1, -1, 1, 3);
  FUNCTION(log, 0, 10, 2);
  FUNCTION(log, 0, 1e300, 2);
  FUNCTION(log2, 0, 10, 3);
  FUNCTION(log10, 0, 10, 3);
  FUNCTION(log1p, -0.9, 3, 3);
  FUNCTION(tanh, -3, 3, 5);
  FUNCTION(sinh, -80, 80, 5);
  FUNCTION(cosh, -80, 80, 4);
  FUNCTION(sin, -1e5, 1e5, 2);
  FUNCTION(cos, -1e5, 1e5, 2);
  FUNCTION(tan, -10, 10, 4);
  FUNCTION(atan, -10, 10, 5);
  FUNCTION(asinh, -1e3, 1e3, 5);
  FUNCTION(acosh, 1, 1e3, 5);
  FUNCTION(atanh, -1, 1, 5);
  FUNCTION(erf, -7, 7, 30);
  FUNCTION(erfc, -7, 26, 200);
  FUNCTION(round, -10, 10, 0);
  for (int i = 0; i < 20000; ++i) {
    double x = 10 * drand48(), y = 40 * drand48() - 20;
    check("fmod", x, __nv_fmod(1e5 * x, y), fmod(1e5 * x, y), 0);
    check("atan2", x, __nv_atan2(y, x - 5), atan2(y, x - 5), 6);
    check("pow", x, __nv_pow(x, y), pow(x, y), 400);
    check("pow", y, __nv_pow(y, 3), pow(y, 3), 2);
  }
  printf("done\n");
  return 0;
}
