void square(int *result, int a)
{
    *result = (int)((uint32_t)a * (uint32_t)a);
}

void positive(int *result, int a)
{
    *result = a > 0;
}

void turn(nova_tuple2_float_int *result, nova_tuple2_int_tuple2_float_bool a)
{
    result->e0 = a.e1.e0 * 2;
    result->e1 = a.e1.e1 ? a.e0 : -1;
}
