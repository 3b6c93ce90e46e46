//! CSV files with a line of names and then numbers (other cells are nan; no quoting).

/// A table by columns.
#[derive(Debug)]
pub struct Table {
    names: Vec<String>,
    columns: Vec<Vec<f64>>,
}

impl Table {
    /// Reads a file's text.
    pub fn read(text: &str) -> Result<Table, String> {
        let mut lines = text.lines();
        let header = lines.next().ok_or("the table is empty")?;
        let names: Vec<String> = header.split(',').map(|n| n.trim().to_string()).collect();
        let mut columns = vec![Vec::new(); names.len()];
        for (number, line) in (2..).zip(lines).filter(|(_, line)| !line.trim().is_empty()) {
            let cells: Vec<&str> = line.split(',').collect();
            if cells.len() != names.len() {
                return Err(format!(
                    "line {number} has {} cells, the first one {}",
                    cells.len(),
                    names.len()
                ));
            }
            for (column, cell) in columns.iter_mut().zip(cells) {
                column.push(cell.trim().parse().unwrap_or(f64::NAN));
            }
        }
        Ok(Table { names, columns })
    }

    /// The names of the columns.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// A column.
    pub fn column(&self, name: &str) -> Option<&Vec<f64>> {
        let position = self.names.iter().position(|n| n == name)?;
        self.columns.get(position)
    }
}
