/* European call and put prices. Limited by arithmetic: about a hundred vector operations for each
 * sixteen options, in long chains of dependent ones. Two passes over blocks of 256 options make the
 * chains short enough for neighbouring vectors to overlap; prices are streamed. The normal
 * distribution is the polynomial of Abramowitz and Stegun 26.2.17; logarithm and exponential are
 * those of the Cephes library. */
#include "peer.h"

enum { PART = 256 };

typedef struct {
    float call, put;
} prices;

typedef struct {
    float d1[PART], d2[PART], s[PART], discounted[PART];
} half_way;

/* The logarithm of positive normal numbers. */
static inline lanes lanes_log(lanes v)
{
    lanes_int bits = (lanes_int)v - 0x3f3504f3;
    lanes e = __builtin_convertvector(bits >> 23, lanes);
    lanes x = (lanes)((bits & 0x7fffff) + 0x3f3504f3) - 1.0f;
    lanes square = x * x;
    lanes y = splat(7.0376836292e-2f);
    y = y * x - 1.1514610310e-1f;
    y = y * x + 1.1676998740e-1f;
    y = y * x - 1.2420140846e-1f;
    y = y * x + 1.4249322787e-1f;
    y = y * x - 1.6668057665e-1f;
    y = y * x + 2.0000714765e-1f;
    y = y * x - 2.4999993993e-1f;
    y = y * x + 3.3333331174e-1f;
    y = y * square * x - 0.5f * square;
    return x + y + e * 0.69314718056f;
}

/* The exponential; of less than -87 as of -87, which is next to nothing. */
static inline lanes lanes_exp(lanes v)
{
    v = lanes_min(lanes_max(v, splat(-87.0f)), splat(88.0f));
    lanes_int n = __builtin_convertvector(v * 1.44269504089f + 128.5f, lanes_int) - 128;
    lanes x = v - __builtin_convertvector(n, lanes) * 0.69314718056f;
    lanes y = splat(1.9875691500e-4f);
    y = y * x + 1.3981999507e-3f;
    y = y * x + 8.3334519073e-3f;
    y = y * x + 4.1665795894e-2f;
    y = y * x + 1.6666665459e-1f;
    y = y * x + 5.0000001201e-1f;
    y = y * (x * x) + x + 1.0f;
    return y * (lanes)((n + 127) << 23);
}

static inline lanes normal(lanes d)
{
    lanes k = 1.0f / (1.0f + 0.2316419f * lanes_abs(d));
    lanes p = splat(1.330274429f);
    p = p * k - 1.821255978f;
    p = p * k + 1.781477937f;
    p = p * k - 0.356563782f;
    p = p * k + 0.31938153f;
    lanes tail = 0.39894228f * lanes_exp(-0.5f * d * d) * (p * k);
    return lanes_select(d > 0.0f, 1.0f - tail, tail);
}

static inline void first_pass(half_way *h, const float *S, const float *X, const float *T, float R,
                              float V)
{
    for (int i = 0; i < PART; i += LANES) {
        prefetch(S + i, AHEAD);
        prefetch(X + i, AHEAD);
        prefetch(T + i, AHEAD);
        lanes s = load(S + i), x = load(X + i), t = load(T + i);
        lanes deviation = V * lanes_sqrt(t);
        lanes d1 = (lanes_log(s / x) + (R + 0.5f * V * V) * t) / deviation;
        store(h->d1 + i, d1);
        store(h->d2 + i, d1 - deviation);
        store(h->s + i, s);
        store(h->discounted + i, x * lanes_exp(-R * t));
    }
}

static inline void second_pass(float *out, const half_way *h)
{
    const lanes_int low = {0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23};
    const lanes_int high = low + 8;
    for (int i = 0; i < PART; i += LANES) {
        lanes n1 = normal(load(h->d1 + i)), n2 = normal(load(h->d2 + i));
        lanes s = load(h->s + i), discounted = load(h->discounted + i);
        lanes call = s * n1 - discounted * n2;
        lanes put = discounted * (1.0f - n2) - s * (1.0f - n1);
        stream(out + 2 * i, __builtin_shuffle(call, put, low));
        stream(out + 2 * i + LANES, __builtin_shuffle(call, put, high));
    }
}

/* Writes the prices of n options. */
static void price(prices *out, const float *S, const float *X, const float *T, int64_t n, float R,
                  float V)
{
    half_way h;
    int64_t i = 0;
    for (; i + PART <= n; i += PART) {
        first_pass(&h, S + i, X + i, T + i, R, V);
        second_pass(&out[i].call, &h);
    }
    stream_end();
    if (i == n)
        return;
    /* The rest, filled up with options of price one. */
    float rest[3][PART], last[2 * PART];
    for (int k = 0; k < PART; k++) {
        int given = k < n - i;
        rest[0][k] = given ? S[i + k] : 1.0f;
        rest[1][k] = given ? X[i + k] : 1.0f;
        rest[2][k] = given ? T[i + k] : 1.0f;
    }
    first_pass(&h, rest[0], rest[1], rest[2], R, V);
    second_pass(last, &h);
    stream_end();
    memcpy(out + i, last, (size_t)(n - i) * sizeof *out);
}

int peer_blackscholes(int64_t *result_len, prices **result, int64_t S_len, const float *S,
                      int64_t X_len, const float *X, int64_t T_len, const float *T, float R, float V)
{
    (void)X_len, (void)T_len;
    int code = result_vector(result_len, (void **)result, S_len, sizeof **result);
    if (code != 0)
        return code;
    price(*result, S, X, T, S_len, R, V);
    return 0;
}
