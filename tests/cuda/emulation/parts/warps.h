/* Warp operations: all lanes of the mask meet, then each has its result. Shuffles and votes
 * exchange values and order nothing else; __syncwarp orders what its lanes do before and after. */
#ifndef NOVA_EMULATION_WARPS_H
#define NOVA_EMULATION_WARPS_H

namespace nova_emulation
{

/* Values of 4 and 8 bytes as the bits that are exchanged. */
template <typename T> inline uint64_t to_bits(T value)
{
    static_assert(sizeof(T) == 4 || sizeof(T) == 8, "lanes exchange values of 32 and 64 bits");
    uint64_t bits = 0;
    memcpy(&bits, &value, sizeof value);
    return bits;
}

template <typename T> inline T from_bits(uint64_t bits)
{
    T value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

} // namespace nova_emulation

inline void __syncwarp(unsigned mask = 0xffffffff, NOVA_EMULATION_SITE)
{
    using namespace nova_emulation;
    meet_in_warp(meeting::warp_sync, mask, 0, 0, {file, line});
}

template <typename T>
inline T __shfl_sync(unsigned mask, T value, int source, int width = 32, NOVA_EMULATION_SITE)
{
    using namespace nova_emulation;
    check_width(width, {file, line});
    unsigned first = here()->lane() & ~(unsigned)(width - 1);
    unsigned from = first | ((unsigned)source & (unsigned)(width - 1));
    return from_bits<T>(meet_in_warp(meeting::shuffle, mask, to_bits(value), from, {file, line}));
}

template <typename T>
inline T __shfl_up_sync(unsigned mask, T value, unsigned delta, int width = 32, NOVA_EMULATION_SITE)
{
    using namespace nova_emulation;
    check_width(width, {file, line});
    unsigned lane = here()->lane(), within = lane & (unsigned)(width - 1);
    unsigned from = within < delta ? lane : lane - delta;
    return from_bits<T>(
        meet_in_warp(meeting::shuffle_up, mask, to_bits(value), from, {file, line}));
}

template <typename T>
inline T __shfl_down_sync(unsigned mask, T value, unsigned delta, int width = 32,
                          NOVA_EMULATION_SITE)
{
    using namespace nova_emulation;
    check_width(width, {file, line});
    unsigned lane = here()->lane(), within = lane & (unsigned)(width - 1);
    unsigned from = delta >= (unsigned)width - within ? lane : lane + delta;
    return from_bits<T>(
        meet_in_warp(meeting::shuffle_down, mask, to_bits(value), from, {file, line}));
}

template <typename T>
inline T __shfl_xor_sync(unsigned mask, T value, int other, int width = 32, NOVA_EMULATION_SITE)
{
    using namespace nova_emulation;
    check_width(width, {file, line});
    unsigned lane = here()->lane(), from = lane ^ (unsigned)other;
    unsigned end = (lane & ~(unsigned)(width - 1)) + (unsigned)width;
    return from_bits<T>(meet_in_warp(meeting::shuffle_xor, mask, to_bits(value),
                                     from < end ? from : lane, {file, line}));
}

inline unsigned __ballot_sync(unsigned mask, int predicate, NOVA_EMULATION_SITE)
{
    using namespace nova_emulation;
    return (unsigned)meet_in_warp(meeting::ballot, mask, predicate != 0, 0, {file, line});
}

inline int __any_sync(unsigned mask, int predicate, NOVA_EMULATION_SITE)
{
    using namespace nova_emulation;
    return (int)meet_in_warp(meeting::any, mask, predicate != 0, 0, {file, line});
}

inline int __all_sync(unsigned mask, int predicate, NOVA_EMULATION_SITE)
{
    using namespace nova_emulation;
    return (int)meet_in_warp(meeting::all, mask, predicate != 0, 0, {file, line});
}

/* CUDA promises no more than that the caller is among the active lanes. */
inline unsigned __activemask()
{
    return 1u << nova_emulation::here()->lane();
}

#endif
