//! PNG through the crate `png`. Palettes and samples of fewer than 8 bits become 8 bits, and a transparent colour
//! becomes a channel; nothing else is converted.

use super::{Picture, bytes_of, samples_of};
use png::{
    BitDepth, ColorType, Compression, Decoder, DecodingError, Encoder, Limits, Transformations,
};
use std::io::{Cursor, ErrorKind, Write};

/// The most that deflate makes smaller: a file of n bytes holds at most so many times n bytes of rows.
const LARGEST_RATIO: usize = 1032;

/// Reads a picture from the bytes of a file.
///
/// # Errors
/// A sentence without the file's name.
pub fn read(file: &[u8]) -> Result<Picture, String> {
    let mut decoder = Decoder::new_with_limits(Cursor::new(file), Limits { bytes: usize::MAX });
    decoder.set_transformations(Transformations::EXPAND);
    decoder.set_ignore_text_chunk(true);
    decoder.set_ignore_iccp_chunk(true);
    let mut reader = decoder.read_info().map_err(describe)?;
    let info = reader.info();
    if info.animation_control().is_some_and(|a| a.num_frames > 1) {
        return Err("the picture is animated; one picture is needed".to_string());
    }
    let (width, height) = (info.width as usize, info.height as usize);
    let rows = info.raw_row_length().saturating_mul(height);
    if rows / LARGEST_RATIO > file.len() {
        return Err(truncated());
    }
    let size = reader.output_buffer_size().ok_or_else(too_large)?;
    let mut bytes = Vec::new();
    bytes.try_reserve_exact(size).map_err(|_| too_large())?;
    bytes.resize(size, 0);
    reader.next_frame(&mut bytes).map_err(describe)?;
    reader.finish().map_err(describe)?;
    let (color, depth) = reader.output_color_type();
    Ok(Picture {
        height,
        width,
        channels: color.samples(),
        samples: samples_of(bytes, depth == BitDepth::Sixteen),
    })
}

fn truncated() -> String {
    "the file is truncated".to_string()
}

fn too_large() -> String {
    "the picture is too large".to_string()
}

fn describe(error: DecodingError) -> String {
    match error {
        DecodingError::IoError(error) if error.kind() == ErrorKind::UnexpectedEof => truncated(),
        DecodingError::IoError(error) => crate::error::describe(&error),
        DecodingError::LimitsExceeded => too_large(),
        DecodingError::Format(error) => format!("this is no good .png file: {error}"),
        DecodingError::Parameter(error) => error.to_string(),
    }
}

/// Writes a picture.
///
/// # Errors
/// The writer fails, or a side of the picture is longer than the format allows.
pub fn write(writer: &mut dyn Write, picture: &Picture) -> Result<(), String> {
    let side = |length: usize| match u32::try_from(length) {
        Ok(side) if side <= i32::MAX as u32 => Ok(side),
        _ => Err(format!("a side of {length} pixels is too long for .png")),
    };
    let mut encoder = Encoder::new(writer, side(picture.width)?, side(picture.height)?);
    encoder.set_color(match picture.channels {
        1 => ColorType::Grayscale,
        2 => ColorType::GrayscaleAlpha,
        3 => ColorType::Rgb,
        _ => ColorType::Rgba,
    });
    encoder.set_depth(match &picture.samples {
        nova_core::Elements::U16(_) => BitDepth::Sixteen,
        _ => BitDepth::Eight,
    });
    encoder.set_compression(Compression::Balanced);
    let bytes = bytes_of(&picture.samples)?;
    let mut writer = encoder.write_header().map_err(|e| e.to_string())?;
    writer.write_image_data(&bytes).map_err(|e| e.to_string())?;
    writer.finish().map_err(|e| e.to_string())
}
