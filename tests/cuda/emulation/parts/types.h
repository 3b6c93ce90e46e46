/* dim3 and the vector types, with CUDA's alignment, so that a misaligned access is one here too. */
#ifndef NOVA_EMULATION_TYPES_H
#define NOVA_EMULATION_TYPES_H

/* NAME1 to NAME4 and make_NAME1 to make_NAME4; the alignment of each. */
#define NOVA_EMULATION_VECTORS(name, type, align1, align2, align3, align4)                         \
    struct alignas(align1) name##1 { type x; };                                                    \
    struct alignas(align2) name##2 { type x, y; };                                                 \
    struct alignas(align3) name##3 { type x, y, z; };                                              \
    struct alignas(align4) name##4 { type x, y, z, w; };                                           \
    inline name##1 make_##name##1(type x) { return {x}; }                                          \
    inline name##2 make_##name##2(type x, type y) { return {x, y}; }                               \
    inline name##3 make_##name##3(type x, type y, type z) { return {x, y, z}; }                    \
    inline name##4 make_##name##4(type x, type y, type z, type w) { return {x, y, z, w}; }

NOVA_EMULATION_VECTORS(char, signed char, 1, 2, 1, 4)
NOVA_EMULATION_VECTORS(uchar, unsigned char, 1, 2, 1, 4)
NOVA_EMULATION_VECTORS(short, short, 2, 4, 2, 8)
NOVA_EMULATION_VECTORS(ushort, unsigned short, 2, 4, 2, 8)
NOVA_EMULATION_VECTORS(int, int, 4, 8, 4, 16)
NOVA_EMULATION_VECTORS(uint, unsigned int, 4, 8, 4, 16)
NOVA_EMULATION_VECTORS(long, long, 8, 16, 8, 16)
NOVA_EMULATION_VECTORS(ulong, unsigned long, 8, 16, 8, 16)
NOVA_EMULATION_VECTORS(longlong, long long, 8, 16, 8, 16)
NOVA_EMULATION_VECTORS(ulonglong, unsigned long long, 8, 16, 8, 16)
NOVA_EMULATION_VECTORS(float, float, 4, 8, 4, 16)
NOVA_EMULATION_VECTORS(double, double, 8, 16, 8, 16)
#undef NOVA_EMULATION_VECTORS

/* An extent in up to three dimensions. */
struct dim3 {
    unsigned int x, y, z;
    constexpr dim3(unsigned int x_ = 1, unsigned int y_ = 1, unsigned int z_ = 1)
        : x(x_), y(y_), z(z_)
    {
    }
};

namespace nova_emulation
{

inline uint64_t volume(const dim3 &extent)
{
    return (uint64_t)extent.x * extent.y * extent.z;
}

/* The place with this number, x varying fastest. */
inline uint3 place(uint64_t number, const dim3 &extent)
{
    return {(unsigned)(number % extent.x), (unsigned)(number / extent.x % extent.y),
            (unsigned)(number / extent.x / extent.y)};
}

} // namespace nova_emulation

#endif
