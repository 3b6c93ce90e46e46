//! Tests of pictures: both formats read back, files of others, damaged files.

use super::*;

/// Returns a picture with numbered samples.
fn picture(height: usize, width: usize, channels: usize, is_large: bool) -> Picture {
    let count = height * width * channels;
    let samples = match is_large {
        false => Elements::U8((0..count).map(|k| (k * 7) as u8).collect::<Vec<_>>().into()),
        true => Elements::U16(
            (0..count)
                .map(|k| (k * 7919) as u16)
                .collect::<Vec<_>>()
                .into(),
        ),
    };
    Picture {
        height,
        width,
        channels,
        samples,
    }
}

fn same(a: &Picture, b: &Picture) -> bool {
    (a.height, a.width, a.channels) == (b.height, b.width, b.channels)
        && Value::Vector(a.samples.clone()).same(&Value::Vector(b.samples.clone()))
}

fn as_png(picture: &Picture) -> Vec<u8> {
    let mut file = Vec::new();
    png::write(&mut file, picture).expect("a picture");
    file
}

fn as_pnm(picture: &Picture) -> Vec<u8> {
    let mut file = Vec::new();
    pnm::write(&mut file, picture, picture.channels).expect("a picture");
    file
}

fn refused(read: fn(&[u8]) -> Result<Picture, String>, file: &[u8]) -> String {
    match read(file) {
        Ok(picture) => panic!("{} x {} pixels were read", picture.width, picture.height),
        Err(error) => error,
    }
}

#[test]
fn pictures_read_back() {
    for (height, width) in [(1, 1), (3, 5), (64, 33)] {
        for is_large in [false, true] {
            for channels in 1..=4 {
                let picture = picture(height, width, channels, is_large);
                let again = png::read(&as_png(&picture)).expect("a good file");
                assert!(same(&again, &picture), "{again:?}");
                if matches!(channels, 1 | 3) {
                    let again = pnm::read(&as_pnm(&picture)).expect("a good file");
                    assert!(same(&again, &picture), "{again:?}");
                }
            }
        }
    }
}

#[test]
fn pictures_of_netpbm() {
    let read = |file: &[u8]| {
        let picture = pnm::read(file).unwrap_or_else(|error| panic!("{error}"));
        let value = Value::Vector(picture.samples.clone());
        let element = match picture.samples {
            Elements::U8(_) => Scalar::U8,
            _ => Scalar::U16,
        };
        let text = nova_core::text::print_value(&value, &Type::vector(Type::Scalar(element)), &[]);
        (picture.height, picture.width, picture.channels, text)
    };
    let grey = |text: &str| (1, 2, 1, text.to_string());
    assert_eq!(read(b"P5 2 1 255\n\x07\xff"), grey("[7 255]"));
    assert_eq!(
        read(b"P5\n# a comment\n2 # w\n1\n15\r\x07\x0f"),
        grey("[7 15]")
    );
    assert_eq!(read(b"P5 2 1 1023\n\x01\x00\x03\xff\n"), grey("[256 1023]"));
    assert_eq!(read(b"P2\n2 1\n255\n7 # seven\n255"), grey("[7 255]"));
    assert_eq!(read(b"P2 2 1 256 7 256\n"), grey("[7 256]"));
    assert_eq!(read(b"P3 1 1 255 1 2 3"), (1, 1, 3, "[1 2 3]".to_string()));
    assert_eq!(
        read(b"P6 1 1 255 \x20\x0a\x09"),
        (1, 1, 3, "[32 10 9]".to_string())
    );
}

#[test]
fn wrong_pictures_of_netpbm_say_why() {
    let error = |file: &[u8]| refused(pnm::read, file);
    assert!(error(b"").contains("no .pgm or .ppm file"));
    assert!(error(b"\x89PNG").contains("no .pgm or .ppm file"));
    assert!(error(b"P4 1 1 \x00").contains(".pbm"));
    assert!(error(b"P5 2").contains("truncated: the height is missing"));
    assert!(error(b"P5 2x 2 255 ").contains("the width is no number"));
    assert!(error(b"P5 2 2 255").contains("the samples are missing"));
    assert!(error(b"P5 2 2 255 abc").contains("4 bytes of samples are announced, 3 are there"));
    assert!(error(b"P5 0 2 255 ").contains("has none"));
    assert!(error(b"P5 1 1 0 a").contains("1 to 65535"));
    assert!(error(b"P5 1 1 65536 ab").contains("1 to 65535"));
    assert!(error(b"P5 1 1 15 \x10").contains("a sample of 16, where 15"));
    assert!(error(b"P2 1 1 15 16").contains("a sample of 16, where 15"));
    assert!(error(b"P2 1 2 15 1").contains("the next sample is missing"));
    assert!(error(b"P5 1 1 255 aP5 1 1 255 b").contains("perhaps a second one"));
    assert!(error(b"P5 18446744073709551615 18446744073709551615 255 ").contains("too large"));
    assert!(error(b"P5 99999999999999999999999 1 255 ").contains("too large"));
    assert!(error(b"P2 4000000000 4000000000 255 1").contains("truncated"));
}

#[test]
fn wrong_pngs_say_why() {
    let file = as_png(&picture(40, 30, 3, false));
    for length in [0, 4, 8, 20, 33, 60, file.len() - 12, file.len() - 1] {
        let error = refused(png::read, &file[..length]);
        assert!(
            error.contains("truncated") || error.contains("no good .png"),
            "{length}: {error}"
        );
    }
    assert!(refused(png::read, b"P5 1 1 255 a").contains("no good .png file"));
    let mut damaged = file.clone();
    damaged[60] ^= 0x55;
    assert!(refused(png::read, &damaged).contains("no good .png file"));
    // 2^31 - 1 pixels on each side.
    let mut absurd = file.clone();
    absurd[16..24].copy_from_slice(&[0x7f, 0xff, 0xff, 0xff, 0x7f, 0xff, 0xff, 0xff]);
    assert!(!refused(png::read, &absurd).is_empty());
}

#[test]
fn types_of_pictures() {
    let bytes = Type::Scalar(Scalar::U8);
    let words = Type::Scalar(Scalar::U16);
    let read = |picture: Picture, ty: &Type| picture.into_value(ty);
    let grey = || picture(2, 3, 1, false);
    let value = read(grey(), &Type::array(2, bytes.clone())).expect("grey");
    assert!(matches!(&value, Value::Array(extents, _) if ***extents == [2, 3]));
    let value = read(grey(), &Type::array(3, bytes.clone())).expect("grey");
    assert!(matches!(&value, Value::Array(extents, _) if ***extents == [2, 3, 1]));
    let value = read(picture(2, 3, 4, true), &Type::array(3, words.clone())).expect("colour");
    assert!(matches!(&value, Value::Array(extents, _) if ***extents == [2, 3, 4]));
    let error = |picture: Picture, ty: &Type| read(picture, ty).expect_err("another type");
    assert!(error(picture(1, 1, 3, false), &Type::array(2, bytes.clone())).contains("vector#3"));
    assert!(error(picture(1, 1, 1, true), &Type::array(2, bytes.clone())).contains("as uint16"));
    assert!(error(grey(), &Type::array(2, words)).contains("as uint8"));
    let floats = Type::array(2, Type::Scalar(Scalar::F32));
    assert!(error(grey(), &floats).contains("to_uint8"));
    let rows = Type::vector(Type::vector(bytes.clone()));
    let value = read(grey(), &rows).expect("grey");
    assert!(value.conforms(&rows, &[]));
    let again = Picture::of(&rows, &value).expect("a picture");
    assert!(same(&again, &grey()));
    assert!(error(picture(1, 1, 3, false), &rows).contains("a vector of vectors has one"));
    assert!(error(grey(), &Type::vector(bytes)).contains("reshape"));
}

#[test]
fn what_is_no_picture_is_refused() {
    let array = |extents: &[usize]| {
        let count = extents.iter().product();
        Value::Array(extents.to_vec().into(), Elements::U8(vec![0; count].into()))
    };
    let of_rank = |rank: usize| Type::array(rank as u32, Type::Scalar(Scalar::U8));
    let error = |extents: &[usize]| {
        Picture::of(&of_rank(extents.len()), &array(extents)).expect_err("no picture")
    };
    assert!(error(&[0, 3]).contains("has none"));
    assert!(error(&[3, 0, 3]).contains("has none"));
    assert!(error(&[1, 1, 5]).contains("1 to 4, not 5"));
    assert!(error(&[1, 1, 0]).contains("1 to 4, not 0"));
    let with_alpha = Picture::of(&of_rank(3), &array(&[1, 1, 4])).expect("a picture");
    let error = pnm::write(&mut Vec::new(), &with_alpha, 3).expect_err("no .ppm");
    assert!(error.to_string().contains("4 channels"));
}

/// Any bytes are a picture or an error.
#[test]
fn damaged_pictures() {
    let files = [
        as_png(&picture(9, 7, 3, false)),
        as_png(&picture(9, 7, 2, true)),
        as_pnm(&picture(9, 7, 1, false)),
        b"P3 2 2 255 1 2 3 4 5 6 7 8 9 10 11 12".to_vec(),
    ];
    let mut seed = 1u64;
    let mut pick = |n: usize| {
        seed = seed
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        (seed >> 33) as usize % n
    };
    for _ in 0..1000 {
        for file in &files {
            let mut file = file.clone();
            for _ in 0..=pick(3) {
                let at = pick(file.len());
                file[at] = pick(256) as u8;
            }
            file.truncate(file.len() - pick(4));
            for read in [png::read, pnm::read] {
                if let Ok(picture) = read(&file) {
                    let count = picture.height * picture.width * picture.channels;
                    assert_eq!(picture.samples.len(), count);
                }
            }
        }
    }
}
