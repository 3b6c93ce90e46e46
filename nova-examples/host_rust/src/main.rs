//! A host in Rust that calls a program in NOVA: measurements are smoothed and searched for outliers.

/// The functions of `nova/series.nova`.
mod series {
    include!(concat!(env!("OUT_DIR"), "/series.rs"));
}

fn main() -> Result<(), series::Error> {
    let measured = [1.0, 1.5, 1.25, 9.0, 1.0, 1.25];
    let (mean, deviation) = series::summary(&measured)?;
    println!("mean {mean}, standard deviation {deviation:.3}");
    println!("smooth {:?}", series::smooth(&measured, 1)?);
    for outlier in series::outliers(&measured, 2.0)?.iter() {
        println!("point {} differs by {:.3}", outlier.e0, outlier.e1);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::series::{self, sys};

    #[test]
    fn vectors_and_tuples() {
        let measured = [1.0, 1.5, 1.25, 9.0, 1.0, 1.25];
        assert_eq!(series::summary(&[1.0, 3.0]), Ok((2.0, 1.0)));
        let smooth = series::smooth(&measured, 1).expect("a result");
        assert_eq!(smooth[..2], [1.25, 1.25]);
        assert_eq!(smooth.len(), 6);
        let outliers = series::outliers(&measured, 2.0).expect("a result");
        assert_eq!(
            (outliers.len(), outliers[0].e0, outliers[0].e1),
            (1, 3, 6.5)
        );
        assert!(series::outliers(&[], 2.0).expect("a result").is_empty());
        let (length, positive, is_empty, (extents, elements)) =
            series::describe(&[3, -1]).expect("a result");
        assert_eq!((length, &*positive, is_empty), (2, &[3][..], false));
        assert_eq!((extents, &*elements), ([1, 2], &[3, -1][..]));
        assert_eq!(series::nothing(), Ok(()));
        assert_eq!(series::r#fn(21), Ok(42));
    }

    #[test]
    fn arrays() {
        let (extents, elements) =
            series::turned(([2, 3], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0])).expect("a result");
        assert_eq!(extents, [3, 2]);
        assert_eq!(elements[..], [1.0, 4.0, 2.0, 5.0, 3.0, 6.0]);
        let (_, scaled) = series::scaled(([1, 2], &[1, 2]), (5, true)).expect("a result");
        assert_eq!(scaled[..], [5, 10]);
        let (extents, elements) = series::turned(([0, 3], &[])).expect("a result");
        assert_eq!((extents, elements.len()), ([3, 0], 0));
        let wrong = series::turned(([2, 2], &[1.0])).expect_err("too few elements");
        assert_eq!(
            (wrong.code, &*wrong.message),
            (4, "the parts of M do not fit each other")
        );
        assert!(series::turned(([usize::MAX, 2], &[1.0, 2.0])).is_err());
    }

    #[test]
    fn nested_vectors() {
        let rows = [1.0, 3.0, 5.0];
        let means = series::means((&[0, 2, 3], &rows)).expect("a result");
        assert_eq!(means[..], [2.0, 5.0]);
        let (offsets, elements) = series::above((&[0, 2, 3], &rows), 4.0).expect("a result");
        assert_eq!((&offsets[..], &elements[..]), (&[0, 1][..], &[5.0][..]));
        let none = series::above((&[0], &[]), 4.0).expect("a result");
        assert_eq!((none.0.len(), none.1.len()), (1, 0));
        for offsets in [&[][..], &[1, 3], &[0, 2], &[0, 4], &[0, 5, 3], &[0, -1, 3]] {
            assert!(series::means((offsets, &rows)).is_err(), "{offsets:?}");
        }
    }

    #[test]
    fn errors_of_the_program() {
        let error = series::element(&[1.0], 1).expect_err("an index out of range");
        assert_eq!(error.code, 1);
        assert!(error.message.contains("series.nova:"), "{error}");
    }

    #[test]
    fn sums_are_there_as_in_c() {
        let square = sys::nova_tuple2_double_double { e0: 2.0, e1: 3.0 };
        let shape = sys::nova_sum_Shape {
            tag: 1,
            u: sys::nova_sum_Shape_u { Square: square },
        };
        let mut area = 0.0;
        // SAFETY: as the header says.
        let code = unsafe { sys::area(&mut area, shape) };
        assert_eq!((code, area), (0, 6.0));
    }
}
