//! Pictures of values: a line of a vector or of pairs, an image of a matrix, in the terminal or as a PNG file.

use nova_core::{ScalarValue, Value};
use std::fmt::Write as _;
use std::io::{self, IsTerminal};
use std::path::Path;
use textplots::{Chart, Plot, Shape};

/// The width of pictures in a terminal, in columns.
const COLUMNS: usize = 72;
/// The sizes of a picture of a line in a file, in pixels.
const WIDTH: usize = 800;
const HEIGHT: usize = 500;
/// Characters from dark to bright, where there are no colours.
const RAMP: &[u8] = b" .:-=+*#%@";

/// What can be drawn.
pub enum Picture {
    /// Points of a line, as x and y.
    Line(Vec<(f64, f64)>),
    /// Rows of brightness from 0 to 255.
    Image(Vec<Vec<u8>>),
}

impl Picture {
    /// Returns the picture of a value, or what can be drawn instead.
    pub fn of(value: &Value) -> Result<Picture, String> {
        match value {
            Value::Vector(elements) => {
                let items: Vec<Value> = (0..elements.len())
                    .filter_map(|k| elements.get(k))
                    .collect();
                let line: Option<Vec<_>> =
                    (0..).zip(&items).map(|(k, item)| point(k, item)).collect();
                if let Some(line) = line {
                    return Ok(Picture::Line(line));
                }
                let rows: Option<Vec<Vec<f64>>> = items.iter().map(numbers).collect();
                image(rows)
            }
            Value::Array(extents, elements) if extents.len() == 2 => {
                let width = extents.get(1).copied().unwrap_or(0).max(1);
                let all: Option<Vec<f64>> = (0..elements.len())
                    .map(|k| elements.get(k).and_then(|item| number(&item)))
                    .collect();
                image(all.map(|all| all.chunks(width).map(<[f64]>::to_vec).collect()))
            }
            _other => Err(DRAWN.to_string()),
        }
    }

    /// Returns the picture as text for a terminal.
    pub fn text(&self) -> String {
        match self {
            Picture::Line(points) => line_text(points),
            Picture::Image(rows) => image_text(rows, io::stdout().is_terminal()),
        }
    }

    /// Writes the picture as a PNG file.
    pub fn write(&self, path: &Path) -> io::Result<()> {
        let drawn;
        let rows = match self {
            Picture::Image(rows) => rows,
            Picture::Line(points) => {
                drawn = raster(points);
                &drawn
            }
        };
        let width = rows.first().map_or(0, Vec::len);
        let sizes = (u32::try_from(width), u32::try_from(rows.len()));
        let (Ok(width), Ok(height)) = sizes else {
            return Err(io::Error::other("the picture is too large"));
        };
        let file = io::BufWriter::new(std::fs::File::create(path)?);
        let mut encoder = png::Encoder::new(file, width, height);
        encoder.set_color(png::ColorType::Grayscale);
        let mut writer = encoder.write_header().map_err(io::Error::other)?;
        writer
            .write_image_data(&rows.concat())
            .map_err(io::Error::other)?;
        writer.finish().map_err(io::Error::other)
    }
}

const DRAWN: &str =
    "a vector of numbers or of pairs of numbers is drawn as a line, a matrix as an image";

fn number(value: &Value) -> Option<f64> {
    match value {
        Value::Scalar(ScalarValue::F32(value)) => Some(f64::from(*value)),
        Value::Scalar(ScalarValue::F64(value)) => Some(*value),
        Value::Scalar(other) => other.as_integer().map(|integer| integer as f64),
        _other => None,
    }
}

fn numbers(row: &Value) -> Option<Vec<f64>> {
    let Value::Vector(elements) = row else {
        return None;
    };
    (0..elements.len())
        .map(|k| number(&elements.get(k)?))
        .collect()
}

/// Returns element k of a line: a pair, or a number whose x is its place.
fn point(k: u32, item: &Value) -> Option<(f64, f64)> {
    match item {
        Value::Tuple(pair) if pair.len() == 2 => {
            Some((number(pair.first()?)?, number(pair.get(1)?)?))
        }
        single => Some((f64::from(k), number(single)?)),
    }
}

/// Returns the image of a matrix. Its least value is black, its largest white.
fn image(rows: Option<Vec<Vec<f64>>>) -> Result<Picture, String> {
    let rows = rows.ok_or(DRAWN)?;
    let width = rows.first().map_or(0, Vec::len);
    if width == 0 || rows.iter().any(|row| row.len() != width) {
        return Err("an image has rows of one length, which is not 0".to_string());
    }
    let (least, most) = range(rows.iter().flatten().copied());
    let bright = |value: f64| ((value - least) / (most - least) * 255.0).round() as u8;
    let rows = rows
        .into_iter()
        .map(|row| row.into_iter().map(bright).collect());
    Ok(Picture::Image(rows.collect()))
}

/// Returns the least and the largest of finite numbers, apart from each other.
fn range(values: impl Iterator<Item = f64>) -> (f64, f64) {
    let finite = values.filter(|value| value.is_finite());
    let (least, most) = finite.fold(
        (f64::INFINITY, f64::NEG_INFINITY),
        |(least, most), value| (least.min(value), most.max(value)),
    );
    match (least < most, least.is_finite()) {
        (true, _) => (least, most),
        (false, true) => (least, least + 1.0),
        (false, false) => (0.0, 1.0),
    }
}

fn line_text(points: &[(f64, f64)]) -> String {
    let (left, right) = range(points.iter().map(|point| point.0));
    let points: Vec<(f32, f32)> = points.iter().map(|(x, y)| (*x as f32, *y as f32)).collect();
    let mut chart = Chart::new(2 * COLUMNS as u32, 80, left as f32, right as f32);
    let shape = Shape::Lines(&points);
    let drawn = chart.lineplot(&shape);
    drawn.axis();
    drawn.figures();
    drawn.to_string()
}

/// Returns an image as text. With colours each character shows two pixels, one above the other.
fn image_text(rows: &[Vec<u8>], has_colours: bool) -> String {
    let width = rows.first().map_or(0, Vec::len);
    let columns = width.min(COLUMNS);
    // Pixels are half as high as characters.
    let height = (rows.len() * columns).div_ceil(width.max(1)).max(1);
    let at = |line: usize, column: usize| -> u8 {
        let row = rows.get(line * rows.len() / height);
        row.and_then(|row| row.get(column * width / columns.max(1)))
            .copied()
            .unwrap_or(0)
    };
    let mut text = String::new();
    for line in (0..height).step_by(2) {
        for column in 0..columns {
            let (upper, lower) = (at(line, column), at(line + 1, column));
            if has_colours {
                let _ = write!(
                    text,
                    "\x1b[38;2;{upper};{upper};{upper}m\x1b[48;2;{lower};{lower};{lower}m▀"
                );
                continue;
            }
            let bright = (usize::from(upper) + usize::from(lower)) / 2;
            let character = RAMP.get(bright * RAMP.len() / 256).copied().unwrap_or(b' ');
            text.push(char::from(character));
        }
        text += if has_colours { "\x1b[0m\n" } else { "\n" };
    }
    text
}

/// Draws a line in black on white.
fn raster(points: &[(f64, f64)]) -> Vec<Vec<u8>> {
    let mut rows = vec![vec![255; WIDTH]; HEIGHT];
    let (left, right) = range(points.iter().map(|point| point.0));
    let (low, high) = range(points.iter().map(|point| point.1));
    let place = |(x, y): &(f64, f64)| {
        let across = (x - left) / (right - left) * (WIDTH - 1) as f64;
        let down = (high - y) / (high - low) * (HEIGHT - 1) as f64;
        (across, down)
    };
    for pair in points.windows(2) {
        let [first, second] = pair else { continue };
        let ((x, y), (to_x, to_y)) = (place(first), place(second));
        let steps = (to_x - x).abs().max((to_y - y).abs()).ceil().max(1.0);
        if !steps.is_finite() {
            continue;
        }
        for step in 0..=steps as usize {
            let part = step as f64 / steps;
            let (column, row) = (x + (to_x - x) * part, y + (to_y - y) * part);
            if let Some(pixel) = rows
                .get_mut(row.round() as usize)
                .and_then(|r| r.get_mut(column.round() as usize))
            {
                *pixel = 0;
            }
        }
    }
    rows
}
