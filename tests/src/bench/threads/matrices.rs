//! Reads sparse matrices in the Matrix Market format: coordinates, of real numbers, of integers or
//! of patterns, general or symmetric.

use crate::bench::memory::{Array, Entry};
use std::path::Path;
use std::rc::Rc;

/// A matrix by rows.
pub struct Matrix {
    /// The number of columns it has.
    pub columns: usize,
    /// The starts and ends of rows.
    pub offsets: Rc<Array<i64>>,
    /// The entries, row by row.
    pub entries: Rc<Array<Entry>>,
}

/// Returns the files of a folder that are matrices, by name.
pub fn files(folder: &Path) -> Result<Vec<std::path::PathBuf>, String> {
    let listed = std::fs::read_dir(folder).map_err(|why| format!("{}: {why}", folder.display()))?;
    let paths = listed.filter_map(|file| Some(file.ok()?.path()));
    let mut found: Vec<_> = paths
        .filter(|path| path.extension().is_some_and(|extension| extension == "mtx"))
        .collect();
    found.sort();
    Ok(found)
}

/// Reads a file.
pub fn read(path: &Path) -> Result<Matrix, String> {
    let text = std::fs::read_to_string(path).map_err(|why| format!("{}: {why}", path.display()))?;
    parse(&text).ok_or_else(|| format!("{}: no matrix of a known kind", path.display()))
}

fn parse(text: &str) -> Option<Matrix> {
    let header = text.lines().next()?.to_lowercase();
    let words: Vec<&str> = header.split_whitespace().collect();
    let ["%%matrixmarket", "matrix", "coordinate", field, symmetry] = words[..] else {
        return None;
    };
    let symmetric = match symmetry {
        "general" => false,
        "symmetric" => true,
        _ => return None,
    };
    if !["real", "integer", "pattern"].contains(&field) {
        return None;
    }
    let mut lines = text.lines().filter(|line| !line.starts_with('%'));
    let mut extents = lines.next()?.split_whitespace().map(str::parse::<usize>);
    let (rows, columns) = (extents.next()?.ok()?, extents.next()?.ok()?);
    let mut by_row: Vec<Vec<Entry>> = vec![Vec::new(); rows];
    for line in lines.filter(|line| !line.trim().is_empty()) {
        let mut words = line.split_whitespace();
        let mut index = || words.next()?.parse::<usize>().ok()?.checked_sub(1);
        let (row, column) = (index()?, index()?);
        // An entry of a pattern is one.
        let value = words.next().map_or(Some(1.0), |word| word.parse().ok())?;
        by_row.get_mut(row)?.push(entry(column, columns, value)?);
        if symmetric && row != column {
            by_row.get_mut(column)?.push(entry(row, columns, value)?);
        }
    }
    Some(by_rows(by_row, columns))
}

fn entry(column: usize, columns: usize, value: f32) -> Option<Entry> {
    let column = i32::try_from(column).ok().filter(|_| column < columns)?;
    Some(Entry { column, value })
}

fn by_rows(mut rows: Vec<Vec<Entry>>, columns: usize) -> Matrix {
    let mut offsets = vec![0i64];
    let mut entries = Vec::new();
    for row in &mut rows {
        row.sort_by_key(|entry| entry.column);
        entries.append(row);
        offsets.push(entries.len() as i64);
    }
    Matrix {
        columns,
        offsets: Rc::new(Array::from_slice(&offsets)),
        entries: Rc::new(Array::from_slice(&entries)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn flat(matrix: &Matrix) -> (Vec<i64>, Vec<(i32, f32)>) {
        let entries = matrix.entries.iter().map(|e| (e.column, e.value));
        (matrix.offsets.to_vec(), entries.collect())
    }

    #[test]
    fn a_general_matrix() {
        let text = "%%MatrixMarket matrix coordinate real general\n% about it\n2 3 3\n1 3 2.5\n\
                    2 2 -1\n1 1 4e1\n";
        let matrix = parse(text).expect("a matrix");
        assert_eq!(matrix.columns, 3);
        let entries = vec![(0, 40.0), (2, 2.5), (1, -1.0)];
        assert_eq!(flat(&matrix), (vec![0, 2, 3], entries));
    }

    #[test]
    fn a_symmetric_pattern_has_both_triangles() {
        let text = "%%MatrixMarket matrix coordinate pattern symmetric\n2 2 2\n1 1\n2 1\n";
        let matrix = parse(text).expect("a matrix");
        let entries = vec![(0, 1.0), (1, 1.0), (0, 1.0)];
        assert_eq!(flat(&matrix), (vec![0, 2, 3], entries));
    }

    #[test]
    fn what_is_no_such_matrix_is_refused() {
        for text in [
            "",
            "%%MatrixMarket matrix array real general\n1 1\n1\n",
            "%%MatrixMarket matrix coordinate complex general\n1 1 1\n1 1 1 1\n",
            "%%MatrixMarket matrix coordinate real general\n1 1 1\n2 1 1\n",
            "%%MatrixMarket matrix coordinate real general\n1 1 1\n1 2 1\n",
            "%%MatrixMarket matrix coordinate real general\n1 1 1\n0 1 1\n",
        ] {
            assert!(parse(text).is_none(), "{text}");
        }
    }
}
