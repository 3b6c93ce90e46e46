//! Pictures in files: `.png`, and the `.pgm` and `.ppm` of Netpbm.
//!
//! A picture is a `vector#2` or a vector of vectors of grey samples, or a `vector#3` of pixels with 1 to 4 channels each, of `uint8` or
//! `uint16`. Samples are neither scaled nor converted: what the type cannot hold is refused.

pub mod png;
pub mod pnm;
#[cfg(test)]
mod tests;

use crate::npy::{Array, levels};
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

/// Returns the rank and the samples of the pictures of a type: 2 for a `vector#2` and a vector of vectors, 3 for a
/// `vector#3`, of `uint8` or `uint16`.
///
/// # Errors
/// No picture has this type. The message says how to convert.
pub fn rank_of(ty: &Type) -> Result<(usize, Scalar), String> {
    let help = match levels(ty) {
        Some((rank @ (2 | 3), scalar @ (Scalar::U8 | Scalar::U16))) => return Ok((rank, scalar)),
        Some((2, Scalar::Bool)) => "; (map (map (lambda (b) (if b 255 0))) X) converts",
        Some((2, _)) => {
            "; (map (map (lambda (x) (to_uint8 (max 0 (min 255 x))))) X) converts to the other, and what reads \
             a picture converts by to_float"
        }
        Some((3, _)) => "; convert the samples by to_uint8 and to_float",
        Some((1, Scalar::U8)) => {
            "; (reshape (height, width) X) makes an array, and the bytes of a file are read from standard \
             input: @-"
        }
        Some(_) | None => "",
    };
    Err(format!(
        "a picture is a vector#2 or a vector of vectors (grey), or a vector#3 (colour), of uint8 or uint16{help}"
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
                    "the picture has {channels} channels ({}), a {} has one; read it as a vector#3, the \
                     last dimension of which is the channels",
                    channel_names(channels),
                    match ty {
                        Type::Vector(_) => "vector of vectors",
                        _ => "vector#2",
                    }
                ));
            }
            (_, channels) => extents.push(channels),
        }
        let array = Array {
            shape: extents,
            elements: self.samples,
        };
        array.into_value(ty)
    }

    /// Returns a value of type `ty` as a picture.
    ///
    /// # Errors
    /// The value is none: it has no pixels, rows of different lengths, or pixels with another number of channels.
    pub fn of(ty: &Type, value: &Value) -> Result<Picture, String> {
        let (_, array) = Array::of(ty, value)?;
        let (height, width, channels) = match array.shape.as_slice() {
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
            samples: array.elements,
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
