//! Non-temporal stores: every element is written and nothing beside, for every length and every start
//! of the caller's buffer.

use crate::support::*;
use nova_diag::SourceMap;

const PROGRAM: &str = r#"(program
  (entry "scaled" [("a" f32) ("x" (vector f32))] (vector f32) "scaled")
  (entry "sums" [("a" f32) ("x" (vector f32))] (vector f32) "sums")
  (entry "pairs" [("a" f32) ("x" (vector f32))] (vector (tuple f32 f32)) "pairs")
  (function "scaled" [a:f32 n:i64 x:(pointer f32) xb:block] [m:i64 r:(pointer f32) rb:block]
    (declare t:(pointer f32)) (declare tb:block)
    (allocate_result tb t f32 n 1 1)
    (if (ge i64 n 1) (do (store t 0 a)))
    (for i (sub i64 n 1) sequential
      (store t (add i64 i 1) (mul f32 a (load x (add i64 i 1)))))
    (set m n) (set r t) (set rb tb))
  (function "sums" [d:f32 l:i64 z:(pointer f32) zb:block] [o:i64 e:(pointer f32) eb:block]
    (declare w:(pointer f32)) (declare wb:block)
    (allocate_result wb w f32 l 1 1)
    (if (ge i64 l 1) (do (store w 0 d)))
    (for h (sub i64 l 1) sequential
      (store w (add i64 h 1) (add f32 (load z h) (load z (add i64 h 1)))))
    (set o l) (set e w) (set eb wb))
  (function "pairs" [b:f32 k:i64 y:(pointer f32) yb:block]
    [c:i64 p:(pointer f32) pb:block q:(pointer f32) qb:block]
    (declare u:(pointer f32)) (declare ub:block)
    (allocate_result ub u f32 k 1 2)
    (declare v:(pointer f32)) (declare vb:block)
    (allocate_result vb v f32 k 2 2)
    (for j k sequential
      (store u (mul i64 j 2) (load y j))
      (store v (mul i64 j 2) (add f32 b (load y j))))
    (set c k) (set p u) (set pb ub) (set q v) (set qb vb)))"#;

const HOST: &str = r#"#include "streams.h"
#include <stdio.h>
#include <stdlib.h>
enum { MOST = 400, BESIDE = 32 };
static float x[MOST], room[2 * MOST + 2 * BESIDE];
static int wrong;
static void clear(void)
{
    for (int k = 0; k < 2 * MOST + 2 * BESIDE; k++)
        room[k] = -1.0f;
}
/* The floats of the buffer are right, and no other has changed. */
static void compare(const float *result, int count, int per, float (*expected)(int))
{
    const float *end = room + sizeof room / sizeof *room;
    for (int k = 0; k < count * per; k++)
        wrong += result[k] != expected(k);
    for (const float *beside = room; beside < result; beside++)
        wrong += *beside != -1.0f;
    for (const float *beside = result + count * per; beside < end; beside++)
        wrong += *beside != -1.0f;
}
static float one(int k) { return k == 0 ? 2.0f : 2.0f * x[k]; }
static float sum(int k) { return k == 0 ? 2.0f : x[k - 1] + x[k]; }
static float two(int k) { return k % 2 == 0 ? x[k / 2] : 2.0f + x[k / 2]; }
int main(void)
{
    for (int k = 0; k < MOST; k++)
        x[k] = (float)k;
    for (int count = 0; count < MOST; count += count < 40 ? 1 : 53)
        for (int first = 0; first < BESIDE; first++) {
            int64_t n = MOST;
            float *r = room + first;
            clear();
            wrong += scaled(&n, &r, 2.0f, count, x) != 0 || n != count || r != room + first;
            compare(r, count, 1, one);
            n = MOST;
            clear();
            wrong += sums(&n, &r, 2.0f, count, x) != 0 || n != count || r != room + first;
            compare(r, count, 1, sum);
            nova_tuple2_float_float *p = (nova_tuple2_float_float *)(void *)(room + first);
            n = MOST;
            clear();
            wrong += pairs(&n, &p, 2.0f, count, x) != 0 || n != count;
            compare(room + first, count, 2, two);
        }
    printf("%d wrong\n", wrong);
    return 0;
}
"#;

#[test]
fn results_are_written_whole() {
    let mut sources = SourceMap::new();
    let file = sources.add("streams", PROGRAM);
    let mut program = nova_loop::parse::parse(PROGRAM, file).unwrap();
    nova_loop_opt::strip_mining::run(&mut program);
    nova_loop::verify(&program).unwrap();
    let mut files = emit(&program, "streams");
    assert_eq!(files.source.matches("nova_non_temporal_store(").count(), 2);
    assert_eq!(
        files
            .source
            .matches("nova_non_temporal_store_lines(")
            .count(),
        4
    );
    compiles(&files, "streams");
    files
        .source
        .insert_str(0, "#define NOVA_NON_TEMPORAL_BYTES 1\n");
    prints(&[("streams", &files)], HOST, "0 wrong\n");
}

const STENCIL: &str = r#"(program
  (entry "means" [("w" i64) ("x" (vector f32))] (vector f32) "means")
  (function "means" [w:i64 n:i64 x:(pointer f32) xb:block] [m:i64 r:(pointer f32) rb:block]
    (declare h:i64 (div i64 n (max i64 w 1)))
    (declare size:i64 (mul i64 h w))
    (declare t:(pointer f32)) (declare tb:block)
    (allocate_result tb t f32 size 1 1)
    (for i h sequential
      (declare a:i64 (max i64 0 (sub i64 i 1)))
      (declare b:i64 (min i64 (sub i64 h 1) (add i64 i 1)))
      (if (ge i64 w 1) (do (store t (mul i64 i w) 1.0f)))
      (for j (sub i64 w 2) sequential
        (declare k:i64 (add i64 j 1))
        (store t (add i64 (mul i64 i w) k)
          (add f32 (sub f32 (load x (add i64 (mul i64 i w) j)) (load x (add i64 (mul i64 i w) k)))
                   (add f32 (load x (add i64 (mul i64 a w) k)) (load x (add i64 (mul i64 b w) k))))))
      (if (ge i64 w 2) (do (store t (add i64 (mul i64 i w) (sub i64 w 1)) 2.0f))))
    (set m size) (set r t) (set rb tb)))"#;

const STENCIL_HOST: &str = r#"#include "stencil.h"
#include <stdio.h>
enum { HEIGHT = 10, WIDTH = 160, MOST = HEIGHT * WIDTH, BESIDE = 32 };
static float x[MOST], room[MOST + 2 * BESIDE];
static int wrong;
static float expected(int height, int width, int i, int j)
{
    int above = i > 0 ? i - 1 : 0, below = i + 1 < height ? i + 1 : i;
    if (j == width - 1 && j > 0)
        return 2.0f;
    if (j == 0)
        return 1.0f;
    return x[i * width + j - 1] - x[i * width + j] + (x[above * width + j] + x[below * width + j]);
}
static void compare(const float *result, int height, int width)
{
    const float *end = room + sizeof room / sizeof *room;
    for (int k = 0; k < height * width; k++)
        wrong += result[k] != expected(height, width, k / width, k % width);
    for (const float *beside = room; beside < result; beside++)
        wrong += *beside != -1.0f;
    for (const float *beside = result + height * width; beside < end; beside++)
        wrong += *beside != -1.0f;
}
int main(void)
{
    for (int k = 0; k < MOST; k++)
        x[k] = (float)(k * 7 % 1000);
    for (int height = 0; height <= HEIGHT; height++)
        for (int width = 1; width <= WIDTH; width += width < 36 ? 1 : 4)
            for (int first = 0; first < BESIDE; first += 5) {
                int64_t n = MOST;
                float *r = room + first;
                for (int k = 0; k < MOST + 2 * BESIDE; k++)
                    room[k] = -1.0f;
                wrong += means(&n, &r, width, height * width, x) != 0 || n != height * width;
                compare(r, height, width);
            }
    printf("%d wrong\n", wrong);
    return 0;
}
"#;

#[test]
fn rows_together_are_written_whole() {
    let mut sources = SourceMap::new();
    let file = sources.add("stencil", STENCIL);
    let mut program = nova_loop::parse::parse(STENCIL, file).unwrap();
    nova_loop_opt::unroll_and_jam::run(&mut program);
    nova_loop_opt::strip_mining::run(&mut program);
    nova_loop::verify(&program).unwrap();
    let mut files = emit(&program, "stencil");
    // Four rows together and one alone; both use the total size of the result.
    assert_eq!(files.source.matches("nova_non_temporal_store(t").count(), 5);
    assert_eq!(files.source.matches("int64_t total").count(), 1);
    assert_eq!(files.source.matches("nova_store_fence();").count(), 1);
    compiles(&files, "stencil");
    files
        .source
        .insert_str(0, "#define NOVA_NON_TEMPORAL_BYTES 1\n");
    prints(&[("stencil", &files)], STENCIL_HOST, "0 wrong\n");
}
