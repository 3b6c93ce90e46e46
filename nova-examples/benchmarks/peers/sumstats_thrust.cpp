// Extremes and moments with Thrust, as its example summary_statistics: one reduction whose operator
// combines the moments of two parts.
#include "thrust.h"

struct statistics {
    float least, greatest;
    double mean, variance, skewness, kurtosis;
};

struct summary {
    double n;
    float least, greatest;
    double mean, m2, m3, m4;
};

struct summary_of_number {
    summary operator()(float x) const { return {1, x, x, x, 0, 0, 0}; }
};

struct combine {
    summary operator()(const summary &a, const summary &b) const
    {
        double n = a.n + b.n, d = b.mean - a.mean, dn = n > 0 ? d / n : 0.0, product = a.n * b.n;
        summary s;
        s.n = n;
        s.least = b.least < a.least ? b.least : a.least;
        s.greatest = b.greatest > a.greatest ? b.greatest : a.greatest;
        s.mean = a.mean + dn * b.n;
        s.m2 = a.m2 + b.m2 + d * dn * product;
        s.m3 = a.m3 + b.m3 + d * dn * dn * product * (a.n - b.n) +
               3 * dn * (a.n * b.m2 - b.n * a.m2);
        s.m4 = a.m4 + b.m4 + d * dn * dn * dn * product * (a.n * a.n - product + b.n * b.n) +
               6 * dn * dn * (a.n * a.n * b.m2 + b.n * b.n * a.m2) +
               4 * dn * (a.n * b.m3 - b.n * a.m3);
        return s;
    }
};

extern "C" int peer_sumstats_thrust(statistics *result, int64_t X_len, const float *X)
{
    const float far = std::numeric_limits<float>::infinity();
    summary s = thrust::transform_reduce(thrust::device, X, X + X_len, summary_of_number(),
                                         summary{0, far, -far, 0, 0, 0, 0}, combine());
    *result = {s.least,
               s.greatest,
               s.mean + (s.n > 0 ? 0.0 : std::numeric_limits<double>::quiet_NaN()),
               s.m2 / (s.n - 1),
               std::sqrt(s.n) * s.m3 / (s.m2 * std::sqrt(s.m2)),
               s.n * s.m4 / (s.m2 * s.m2)};
    return 0;
}
