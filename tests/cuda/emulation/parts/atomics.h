/* Atomic operations and fences. Since fibers change places only where they say so, an operation is
 * atomic by itself; others may go on before it.
 *
 * They are relaxed, as CUDA's are: none orders what threads do to other memory. What does is a
 * fence before an atomic write, and a fence after the atomic read that has seen it. */
#ifndef NOVA_EMULATION_ATOMICS_H
#define NOVA_EMULATION_ATOMICS_H

namespace nova_emulation
{

/* A word of the same size, by which ThreadSanitizer sees an atomic operation. */
template <size_t size> struct word_of;
template <> struct word_of<1> { typedef uint8_t type; };
template <> struct word_of<2> { typedef uint16_t type; };
template <> struct word_of<4> { typedef uint32_t type; };
template <> struct word_of<8> { typedef uint64_t type; };

template <typename T> inline T load(const volatile T *address)
{
    typedef typename word_of<sizeof(T)>::type word;
    pause();
    word bits = __atomic_load_n((const volatile word *)address, __ATOMIC_RELAXED);
    note_read(address);
    note_change(false);
    T value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

template <typename T> inline void store(volatile T *address, T value)
{
    typedef typename word_of<sizeof(T)>::type word;
    word bits;
    memcpy(&bits, &value, sizeof bits);
    pause();
    note_write(address);
    word old = __atomic_exchange_n((volatile word *)address, bits, __ATOMIC_RELAXED);
    note_change(old != bits);
}

/* Replaces a value by a function of it; gives the old one. */
template <typename T, typename Change> inline T update(T *address, Change change)
{
    typedef typename word_of<sizeof(T)>::type word;
    pause();
    word before = __atomic_load_n((word *)address, __ATOMIC_RELAXED), after;
    T old;
    memcpy(&old, &before, sizeof old);
    T changed = change(old);
    memcpy(&after, &changed, sizeof after);
    note_read(address);
    note_write(address);
    __atomic_store_n((word *)address, after, __ATOMIC_RELAXED);
    note_change(before != after);
    return old;
}

/* Sums and differences that wrap. */
inline int plus(int a, int b) { return (int)((unsigned)a + (unsigned)b); }
inline unsigned plus(unsigned a, unsigned b) { return a + b; }
inline unsigned long long plus(unsigned long long a, unsigned long long b) { return a + b; }
inline float plus(float a, float b) { return a + b; }
inline double plus(double a, double b) { return a + b; }
inline int minus(int a, int b) { return (int)((unsigned)a - (unsigned)b); }
inline unsigned minus(unsigned a, unsigned b) { return a - b; }

} // namespace nova_emulation

/* NAME(address, operand) for a type for which CUDA has it; the expression is of old and operand. */
#define NOVA_EMULATION_ATOMIC(name, type, expression)                                              \
    inline type name(type *address, type operand)                                                  \
    {                                                                                              \
        return nova_emulation::update(address, [=](type old) -> type {                             \
            (void)old;                                                                             \
            return expression;                                                                     \
        });                                                                                        \
    }
#define NOVA_EMULATION_ATOMIC_32(name, expression)                                                 \
    NOVA_EMULATION_ATOMIC(name, int, expression)                                                   \
    NOVA_EMULATION_ATOMIC(name, unsigned, expression)
#define NOVA_EMULATION_ATOMIC_UNSIGNED(name, expression)                                           \
    NOVA_EMULATION_ATOMIC_32(name, expression)                                                     \
    NOVA_EMULATION_ATOMIC(name, unsigned long long, expression)
#define NOVA_EMULATION_ATOMIC_ALL(name, expression)                                                \
    NOVA_EMULATION_ATOMIC_UNSIGNED(name, expression)                                               \
    NOVA_EMULATION_ATOMIC(name, long long, expression)

NOVA_EMULATION_ATOMIC_UNSIGNED(atomicAdd, nova_emulation::plus(old, operand))
NOVA_EMULATION_ATOMIC(atomicAdd, float, nova_emulation::plus(old, operand))
NOVA_EMULATION_ATOMIC(atomicAdd, double, nova_emulation::plus(old, operand))
NOVA_EMULATION_ATOMIC_32(atomicSub, nova_emulation::minus(old, operand))
NOVA_EMULATION_ATOMIC_ALL(atomicMin, operand < old ? operand : old)
NOVA_EMULATION_ATOMIC_ALL(atomicMax, operand > old ? operand : old)
NOVA_EMULATION_ATOMIC_ALL(atomicAnd, old & operand)
NOVA_EMULATION_ATOMIC_ALL(atomicOr, old | operand)
NOVA_EMULATION_ATOMIC_ALL(atomicXor, old ^ operand)
NOVA_EMULATION_ATOMIC_UNSIGNED(atomicExch, operand)
NOVA_EMULATION_ATOMIC(atomicExch, float, operand)
NOVA_EMULATION_ATOMIC(atomicInc, unsigned, old >= operand ? 0 : old + 1)
NOVA_EMULATION_ATOMIC(atomicDec, unsigned, old == 0 || old > operand ? operand : old - 1)
#undef NOVA_EMULATION_ATOMIC_ALL
#undef NOVA_EMULATION_ATOMIC_UNSIGNED
#undef NOVA_EMULATION_ATOMIC_32
#undef NOVA_EMULATION_ATOMIC

#define NOVA_EMULATION_SWAP_IF(type)                                                               \
    inline type atomicCAS(type *address, type expected, type value)                                \
    {                                                                                              \
        return nova_emulation::update(address,                                                     \
                                      [=](type old) { return old == expected ? value : old; });    \
    }
NOVA_EMULATION_SWAP_IF(int)
NOVA_EMULATION_SWAP_IF(unsigned)
NOVA_EMULATION_SWAP_IF(unsigned long long)
NOVA_EMULATION_SWAP_IF(unsigned short)
#undef NOVA_EMULATION_SWAP_IF

inline void __threadfence()
{
    nova_emulation::fence();
}

inline void __threadfence_block()
{
    nova_emulation::fence();
}

inline void __threadfence_system()
{
    nova_emulation::fence();
}

#endif
