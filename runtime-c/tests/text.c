/* Tests of values as text: the text of a value reads back as that value, with as few digits as
 * possible. */
#include "../common/text.h"
#include "test.h"

static void check_float(double value, bool single, const char *expected)
{
    nova_text text = {NULL, 0, 0};
    nova_text_float(&text, value, single);
    nova_text_bytes(&text, "", 1);
    if (strcmp(text.bytes, expected) != 0)
        fprintf(stderr, "%s for %s\n", text.bytes, expected);
    CHECK(strcmp(text.bytes, expected) == 0);
    free(text.bytes);
}

int main(void)
{
    check_float(0.0, false, "0.0");
    check_float(-0.0, true, "-0.0");
    check_float(1.0, false, "1.0");
    check_float(100.0, true, "100.0");
    check_float(0.1f, true, "0.1");
    check_float(0.1, false, "0.1");
    check_float(0.1f, false, "0.10000000149011612");
    check_float(1e-4, false, "0.0001");
    check_float(9.99e-5, false, "9.99e-5");
    check_float(1e16, false, "1e16");
    check_float(123456789012345680.0, false, "1.2345678901234568e17");
    check_float(9007199254740993.0, false, "9007199254740992.0");
    check_float(5e-324, false, "5e-324");
    check_float(-1.5e300, false, "-1.5e300");
    check_float(3.4028235e38f, true, "3.4028235e38");
    check_float(1.17549435e-38f, true, "1.1754944e-38");
    check_float(NAN, true, "nan");
    check_float(-INFINITY, false, "-inf");
    return 0;
}
