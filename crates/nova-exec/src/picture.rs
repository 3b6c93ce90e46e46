//! Pictures in files: `.png`, and the `.pgm` and `.ppm` of Netpbm.
//!
//! A picture is a `vector#2` of grey samples or a `vector#3` of pixels with 1 to 4 channels each, of `uint8` or
//! `uint16`. Samples are neither scaled nor converted: what the type cannot hold is refused.

pub mod png;
pub mod pnm;
#[cfg(test)]
mod tests;

use nova_core::{Elements, Scalar, Type, Value};

/// The samples of a picture, row by row from the top.
#[derive(Clone, Debug)]
pub struct Picture {
    /// The number of rows.
    pub height: usize,
    /// The number of pixels of a row.
    pub width: usize,
    /// The samples of a pixel: 1 for grey, 2 with alpha, 3 for red, green and blue, 4 with alpha.
    pub channels: usize,
    /// [`Elements::U8`] or [`Elements::U16`].
    pub samples: Elements,
}

/// Returns the rank and the samples of the pictures of a type, `vector#2` or `vector#3` of `uint8` or `uint16`.
///
/// # Errors
/// No picture has this type. The message says how to convert.
pub fn rank_of(ty: &Type) -> Result<(u32, Scalar), String> {
    let help = match ty {
        Type::Array(rank @ (2 | 3), element) => match element.as_scalar() {
            Some(scalar @ (Scalar::U8 | Scalar::U16)) => return Ok((*rank, scalar)),
            Some(Scalar::Bool) => "; (map (map (lambda (b) (if b 255 0))) X) converts a vector#2",
            Some(_) if *rank == 2 => {
                "; (map (map (lambda (x) (to_uint8 (max 0 (min 255 x))))) X) converts to the other"
            }
            Some(_) => "; convert the samples with to_uint8 or to_uint16",
            None => "",
        },
        Type::Vector(element) if matches!(**element, Type::Vector(_)) => {
            "; (unrows X) makes an array of rows, (rows X) rows of an array"
        }
        Type::Vector(element) if **element == Type::Scalar(Scalar::U8) => {
            "; (reshape (height, width) X) makes an array, and the bytes of a file are read from standard \
             input: @-"
        }
        Type::Unit
        | Type::Scalar(_)
        | Type::Tuple(_)
        | Type::Vector(_)
        | Type::Array(..)
        | Type::Sum(_)
        | Type::Function(..) => "",
    };
    Err(format!(
        "a picture is a vector#2 (grey) or a vector#3 (colour) of uint8 or uint16{help}"
    ))
}

impl Picture {
    /// Returns the picture as a value of type `ty`.
    ///
    /// # Errors
    /// The type is no picture's, or another one's.
    pub fn into_value(self, ty: &Type) -> Result<Value, String> {
        let (rank, scalar) = rank_of(ty)?;
        match (&self.samples, scalar) {
            (Elements::U8(_), Scalar::U8) | (Elements::U16(_), Scalar::U16) => {}
            (Elements::U16(_), _) => {
                return Err("the picture has 16 bits for a sample; read it as uint16".to_string());
            }
            _ => return Err("the picture has 8 bits for a sample; read it as uint8".to_string()),
        }
        let mut extents = vec![self.height, self.width];
        match (rank, self.channels) {
            (2, 1) => {}
            (2, channels) => {
                return Err(format!(
                    "the picture has {channels} channels ({}), a vector#2 has one; read it as a vector#3, \
                     the last dimension of which is the channels",
                    channel_names(channels)
                ));
            }
            (_, channels) => extents.push(channels),
        }
        Ok(Value::Array(extents.into(), self.samples))
    }

    /// Returns a value as a picture.
    ///
    /// # Errors
    /// The value is none: it has no pixels, or its pixels another number of channels.
    pub fn of(value: &Value) -> Result<Picture, String> {
        let Value::Array(extents, samples) = value else {
            return Err("the value is no array".to_string());
        };
        let (height, width, channels) = match extents.as_slice() {
            [height, width] => (*height, *width, 1),
            [height, width, channels] => (*height, *width, *channels),
            _ => return Err("the value is no picture".to_string()),
        };
        if height == 0 || width == 0 {
            return Err(format!("a picture of {width} x {height} pixels has none"));
        }
        if !(1..=4).contains(&channels) {
            return Err(format!(
                "the last dimension is the channels of a pixel, 1 to 4, not {channels}"
            ));
        }
        Ok(Picture {
            height,
            width,
            channels,
            samples: samples.clone(),
        })
    }
}

/// Returns the usual name of so many channels.
fn channel_names(channels: usize) -> &'static str {
    match channels {
        1 => "grey",
        2 => "grey and alpha",
        3 => "red, green, blue",
        _ => "red, green, blue, alpha",
    }
}

/// Returns samples from their bytes, of which those of a large one have two, the more significant first.
fn samples_of(bytes: Vec<u8>, is_large: bool) -> Elements {
    match is_large {
        false => Elements::U8(bytes.into()),
        true => {
            let pairs = bytes.as_chunks::<2>().0.iter();
            let samples: Vec<u16> = pairs.map(|pair| u16::from_be_bytes(*pair)).collect();
            Elements::U16(samples.into())
        }
    }
}

/// Returns the bytes of samples, those of large ones with the more significant first.
fn bytes_of(samples: &Elements) -> Result<std::borrow::Cow<'_, [u8]>, String> {
    match samples {
        Elements::U8(samples) => Ok(samples.as_slice().into()),
        Elements::U16(samples) => {
            let bytes = samples.iter().flat_map(|sample| sample.to_be_bytes());
            Ok(bytes.collect::<Vec<u8>>().into())
        }
        _ => Err("the samples are no uint8 or uint16".to_string()),
    }
}
