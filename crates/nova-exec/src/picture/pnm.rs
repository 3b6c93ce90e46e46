//! The formats of Netpbm with samples in bytes (P5, P6) or digits (P2, P3): `.pgm` for grey, `.ppm` for colours.
//!
//! A largest sample of at most 255 makes the samples `uint8`, a larger one `uint16`. They are read as they are, not
//! scaled to the whole type.

use super::{Picture, bytes_of, channel_names, samples_of};
use nova_core::Elements;
use std::io::{self, Write};

/// Reads a picture from the bytes of a file.
///
/// # Errors
/// A sentence without the file's name.
pub fn read(file: &[u8]) -> Result<Picture, String> {
    let (channels, is_text) = match file {
        [b'P', b'2', ..] => (1, true),
        [b'P', b'3', ..] => (3, true),
        [b'P', b'5', ..] => (1, false),
        [b'P', b'6', ..] => (3, false),
        [b'P', b'1' | b'4', ..] => {
            return Err("the picture has one bit for a pixel (.pbm); .pgm is needed".to_string());
        }
        _ => {
            return Err("this is no .pgm or .ppm file: it must begin with P2, P3, P5 or P6".into());
        }
    };
    let mut header = Header {
        rest: file.get(2..).unwrap_or_default(),
    };
    let width = header.number("width")?;
    let height = header.number("height")?;
    let largest = header.number("largest sample")?;
    if width == 0 || height == 0 {
        return Err(format!("a picture of {width} x {height} pixels has none"));
    }
    let (Ok(largest), 1..) = (u16::try_from(largest), largest) else {
        return Err(format!(
            "a largest sample of {largest}; it must be 1 to 65535"
        ));
    };
    let count = width
        .checked_mul(height)
        .and_then(|count| count.checked_mul(channels))
        .ok_or("the picture is too large")?;
    let samples = match is_text {
        true => header.text_samples(count, largest)?,
        false => header.byte_samples(count, largest)?,
    };
    Ok(Picture {
        height,
        width,
        channels,
        samples,
    })
}

/// The part of a file that has not been read yet.
struct Header<'a> {
    rest: &'a [u8],
}

impl Header<'_> {
    /// Returns the next byte, and goes behind it.
    fn byte(&mut self) -> Option<u8> {
        let (first, rest) = self.rest.split_first()?;
        self.rest = rest;
        Some(*first)
    }

    /// Goes to the next byte that is no blank and in no comment.
    fn skip_blanks(&mut self) {
        while let Some(byte) = self.rest.first() {
            match byte {
                b'#' => {
                    let end = self
                        .rest
                        .iter()
                        .position(|byte| matches!(byte, b'\n' | b'\r'));
                    self.rest = end.and_then(|end| self.rest.get(end..)).unwrap_or(&[]);
                }
                byte if is_blank(*byte) => self.rest = self.rest.get(1..).unwrap_or(&[]),
                _ => return,
            }
        }
    }

    /// Reads a number in digits.
    fn number(&mut self, what: &str) -> Result<usize, String> {
        self.skip_blanks();
        let digits = self.rest.iter().take_while(|byte| byte.is_ascii_digit());
        let digits = digits.count();
        let (digits, rest) = self.rest.split_at(digits);
        let follows = rest
            .first()
            .is_none_or(|byte| is_blank(*byte) || *byte == b'#');
        if digits.is_empty() && rest.is_empty() {
            return Err(format!("the file is truncated: the {what} is missing"));
        }
        if digits.is_empty() || !follows {
            return Err(format!(
                "this is no good .pgm or .ppm file: the {what} is no number"
            ));
        }
        self.rest = rest;
        let text = std::str::from_utf8(digits).unwrap_or_default();
        text.parse().map_err(|_| format!("the {what} is too large"))
    }

    /// Reads samples in bytes, after one blank.
    fn byte_samples(mut self, count: usize, largest: u16) -> Result<Elements, String> {
        if !self.byte().is_some_and(is_blank) {
            return Err("the file is truncated: the samples are missing".to_string());
        }
        let size = if largest > 255 { 2 } else { 1 };
        let length = count.checked_mul(size).ok_or("the picture is too large")?;
        let Some(bytes) = self.rest.get(..length) else {
            return Err(format!(
                "the file is truncated: {length} bytes of samples are announced, {} are there",
                self.rest.len()
            ));
        };
        let after = self.rest.get(length..).unwrap_or_default();
        if after.iter().any(|byte| !is_blank(*byte)) {
            return Err("something follows the picture, perhaps a second one".to_string());
        }
        let samples = samples_of(bytes.to_vec(), size == 2);
        let found = match &samples {
            Elements::U8(samples) => samples.iter().max().copied().map(u16::from),
            Elements::U16(samples) => samples.iter().max().copied(),
            _ => None,
        };
        match found {
            Some(found) if found > largest => Err(format!(
                "a sample of {found}, where {largest} is announced as the largest"
            )),
            Some(_) | None => Ok(samples),
        }
    }

    /// Reads samples in digits.
    fn text_samples(mut self, count: usize, largest: u16) -> Result<Elements, String> {
        // A sample takes at least a digit and a blank.
        let mut samples: Vec<u16> = Vec::with_capacity(count.min(self.rest.len() / 2 + 1));
        for _ in 0..count {
            let sample = self.number("next sample")?;
            match u16::try_from(sample) {
                Ok(sample) if sample <= largest => samples.push(sample),
                _ => {
                    return Err(format!(
                        "a sample of {sample}, where {largest} is announced as the largest"
                    ));
                }
            }
        }
        self.skip_blanks();
        if !self.rest.is_empty() {
            return Err("something follows the picture, perhaps a second one".to_string());
        }
        Ok(match largest {
            0..=255 => {
                let samples: Vec<u8> = samples.iter().map(|sample| *sample as u8).collect();
                Elements::U8(samples.into())
            }
            256.. => Elements::U16(samples.into()),
        })
    }
}

fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r' | 0x0b | 0x0c)
}

/// Writes a picture of so many channels, 1 (`.pgm`) or 3 (`.ppm`), with samples in bytes.
///
/// # Errors
/// The writer fails, or the picture has another number of channels.
pub fn write(writer: &mut dyn Write, picture: &Picture, channels: usize) -> io::Result<()> {
    if picture.channels != channels {
        return Err(io::Error::other(format!(
            "the picture has {} channel{} ({}), this format has {channels} ({}); .png holds 1 to 4",
            picture.channels,
            if picture.channels == 1 { "" } else { "s" },
            channel_names(picture.channels),
            channel_names(channels),
        )));
    }
    let largest = match &picture.samples {
        Elements::U16(_) => u16::MAX,
        _ => u16::from(u8::MAX),
    };
    let magic = if channels == 1 { "P5" } else { "P6" };
    write!(
        writer,
        "{magic}\n{} {}\n{largest}\n",
        picture.width, picture.height
    )?;
    writer.write_all(&bytes_of(&picture.samples).map_err(io::Error::other)?)
}
