// The number of words with Thrust, as its example word_count: pairs of neighbours of which only the
// second is a letter.
#include "thrust.h"

struct is_letter {
    bool operator()(uint8_t c) const { return static_cast<uint8_t>((c | 0x20) - 'a') < 26; }
};

struct word_begins {
    int operator()(uint8_t left, uint8_t right) const
    {
        return !is_letter()(left) & is_letter()(right);
    }
};

extern "C" int peer_wordcount_thrust(int32_t *result, int64_t text_len, const uint8_t *text)
{
    *result = 0;
    if (text_len > 0)
        *result = thrust::inner_product(thrust::device, text, text + text_len - 1, text + 1,
                                        static_cast<int>(is_letter()(text[0])), thrust::plus<int>(),
                                        word_begins());
    return 0;
}
