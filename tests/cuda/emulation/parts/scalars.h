/* Functions of scalars that CUDA has and C has not: bits, reinterpretation, arithmetic that is
 * rounded as its name says and never contracted, and fast functions, which are the exact ones here.
 * */
#ifndef NOVA_EMULATION_SCALARS_H
#define NOVA_EMULATION_SCALARS_H

/* Bits. */
inline int __popc(unsigned x) { return __builtin_popcount(x); }
inline int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
inline int __clz(int x) { return x == 0 ? 32 : __builtin_clz((unsigned)x); }
inline int __clzll(long long x) { return x == 0 ? 64 : __builtin_clzll((unsigned long long)x); }
inline int __ffs(int x) { return __builtin_ffs(x); }
inline int __ffsll(long long x) { return __builtin_ffsll(x); }

inline unsigned __brev(unsigned x)
{
    unsigned reversed = 0;
    for (int i = 0; i < 32; i++)
        reversed |= (x >> i & 1) << (31 - i);
    return reversed;
}

inline unsigned long long __brevll(unsigned long long x)
{
    return (unsigned long long)__brev((unsigned)x) << 32 | __brev((unsigned)(x >> 32));
}

inline unsigned __funnelshift_l(unsigned low, unsigned high, unsigned shift)
{
    return (unsigned)((((uint64_t)high << 32 | low) << (shift & 31)) >> 32);
}

inline unsigned __funnelshift_r(unsigned low, unsigned high, unsigned shift)
{
    return (unsigned)(((uint64_t)high << 32 | low) >> (shift & 31));
}

/* The upper halves of products. */
inline int __mulhi(int a, int b) { return (int)(((int64_t)a * b) >> 32); }
inline unsigned __umulhi(unsigned a, unsigned b) { return (unsigned)(((uint64_t)a * b) >> 32); }
inline long long __mul64hi(long long a, long long b)
{
    return (long long)(((__int128)a * b) >> 64);
}
inline unsigned long long __umul64hi(unsigned long long a, unsigned long long b)
{
    return (unsigned long long)(((unsigned __int128)a * b) >> 64);
}

/* The same bits as another type. */
#define NOVA_EMULATION_SAME_BITS(name, from, to)                                                   \
    inline to name(from value)                                                                     \
    {                                                                                              \
        to result;                                                                                 \
        memcpy(&result, &value, sizeof result);                                                    \
        return result;                                                                             \
    }
NOVA_EMULATION_SAME_BITS(__float_as_int, float, int)
NOVA_EMULATION_SAME_BITS(__int_as_float, int, float)
NOVA_EMULATION_SAME_BITS(__float_as_uint, float, unsigned)
NOVA_EMULATION_SAME_BITS(__uint_as_float, unsigned, float)
NOVA_EMULATION_SAME_BITS(__double_as_longlong, double, long long)
NOVA_EMULATION_SAME_BITS(__longlong_as_double, long long, double)
#undef NOVA_EMULATION_SAME_BITS

/* Rounded to nearest. The volatile result keeps the compiler from making one operation of two. */
#define NOVA_EMULATION_ROUNDED(name, type, expression)                                             \
    inline type name(type a, type b)                                                               \
    {                                                                                              \
        volatile type rounded = expression;                                                        \
        return rounded;                                                                            \
    }
NOVA_EMULATION_ROUNDED(__fadd_rn, float, a + b)
NOVA_EMULATION_ROUNDED(__fsub_rn, float, a - b)
NOVA_EMULATION_ROUNDED(__fmul_rn, float, a * b)
NOVA_EMULATION_ROUNDED(__fdiv_rn, float, a / b)
NOVA_EMULATION_ROUNDED(__dadd_rn, double, a + b)
NOVA_EMULATION_ROUNDED(__dsub_rn, double, a - b)
NOVA_EMULATION_ROUNDED(__dmul_rn, double, a * b)
NOVA_EMULATION_ROUNDED(__ddiv_rn, double, a / b)
#undef NOVA_EMULATION_ROUNDED
inline float __fsqrt_rn(float x) { return sqrtf(x); }
inline float __frcp_rn(float x) { return __fdiv_rn(1.0f, x); }
inline float __fmaf_rn(float a, float b, float c) { return fmaf(a, b, c); }
inline double __dsqrt_rn(double x) { return sqrt(x); }
inline double __drcp_rn(double x) { return __ddiv_rn(1.0, x); }
inline double __fma_rn(double a, double b, double c) { return fma(a, b, c); }

/* Math functions that C has not. */
inline float rsqrtf(float x) { return 1.0f / sqrtf(x); }
inline double rsqrt(double x) { return 1.0 / sqrt(x); }
inline float __expf(float x) { return expf(x); }
inline float __exp10f(float x) { return powf(10.0f, x); }
inline float __logf(float x) { return logf(x); }
inline float __log2f(float x) { return log2f(x); }
inline float __log10f(float x) { return log10f(x); }
inline float __sinf(float x) { return sinf(x); }
inline float __cosf(float x) { return cosf(x); }
inline float __tanf(float x) { return tanf(x); }
inline float __powf(float x, float y) { return powf(x, y); }
inline float __fdividef(float a, float b) { return a / b; }
inline float __saturatef(float x) { return x > 0.0f ? x < 1.0f ? x : 1.0f : 0.0f; }

#define NOVA_EMULATION_EXTREMES(type)                                                              \
    inline type min(type a, type b) { return b < a ? b : a; }                                      \
    inline type max(type a, type b) { return a < b ? b : a; }
NOVA_EMULATION_EXTREMES(int)
NOVA_EMULATION_EXTREMES(unsigned)
NOVA_EMULATION_EXTREMES(long)
NOVA_EMULATION_EXTREMES(unsigned long)
NOVA_EMULATION_EXTREMES(long long)
NOVA_EMULATION_EXTREMES(unsigned long long)
#undef NOVA_EMULATION_EXTREMES
inline float min(float a, float b) { return fminf(a, b); }
inline float max(float a, float b) { return fmaxf(a, b); }
inline double min(double a, double b) { return fmin(a, b); }
inline double max(double a, double b) { return fmax(a, b); }

/* Loads and stores with hints for caches that are not there. */
template <typename T> inline T __ldg(const T *address) { return *address; }
template <typename T> inline T __ldca(const T *address) { return *address; }
template <typename T> inline T __ldcg(const T *address) { return *address; }
template <typename T> inline T __ldcs(const T *address) { return *address; }
template <typename T> inline void __stcg(T *address, T value) { *address = value; }
template <typename T> inline void __stcs(T *address, T value) { *address = value; }
template <typename T> inline void __stwt(T *address, T value) { *address = value; }

#endif
