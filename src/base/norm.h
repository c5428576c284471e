/* Norms of numbers whose squares may overflow or underflow. */
#pragma once
#include <math.h>

/* sqrt(sum of r[i]^2), i < n, computed with r divided by a power of two near the largest |r[i]| */
static inline double VpNorm(int n, const double r[])
{
  double largest = 0, sum = 0;
  int    exponent;

  for (int i = 0; i < n; i++) largest = isnan(largest) || fabs(r[i]) <= largest ? largest : fabs(r[i]); /* a NaN stays */
  if (!(largest > 0 && largest < INFINITY)) return largest;
  (void)frexp(largest, &exponent);
  for (int i = 0; i < n; i++) sum += ldexp(r[i], -exponent) * ldexp(r[i], -exponent);
  return ldexp(sqrt(sum), exponent);
}
