//! The output of a process: lines of fields separated by tabs (`tests/recursion/recursion.h`).

/// What a process printed.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Output {
    /// The number of nodes, where it is not the size asked for.
    pub size: Option<usize>,
    /// Nanoseconds per node of each round, for each side.
    pub times: Vec<(String, Vec<f64>)>,
    /// Values by name, with their own bounds.
    pub values: Vec<(String, f64, Option<f64>)>,
}

impl Output {
    /// Returns the times of a side.
    pub fn times(&self, side: &str) -> Option<&[f64]> {
        let found = self.times.iter().find(|(name, _)| name == side);
        found.map(|(_, times)| times.as_slice())
    }
}

/// Reads the lines of a process.
pub fn read(text: &str) -> Result<Output, String> {
    let mut output = Output::default();
    for line in text.lines() {
        add(line, &mut output).ok_or_else(|| format!("not understood: {line}"))?;
    }
    Ok(output)
}

/// Reads a line. Returns `None` if it has another form.
fn add(line: &str, output: &mut Output) -> Option<()> {
    let fields: Vec<&str> = line.split('\t').collect();
    match fields[..] {
        ["size", size] => output.size = Some(size.parse().ok()?),
        ["time", side, times] => {
            let times = times.split(' ').map(|time| time.parse().ok());
            let times: Vec<f64> = times.collect::<Option<_>>()?;
            output.times.push((side.to_string(), times));
        }
        ["value", name, value] => {
            output
                .values
                .push((name.to_string(), value.parse().ok()?, None));
        }
        ["value", name, value, most] => {
            let most = Some(most.parse().ok()?);
            output
                .values
                .push((name.to_string(), value.parse().ok()?, most));
        }
        _ => return None,
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_have_a_size_times_and_values() {
        let output = read("size\t9\ntime\tC, walk\t1.5 2\nvalue\tpeak\t3\nvalue\tmoves\t4\t5\n");
        let output = output.expect("lines");
        assert_eq!(output.size, Some(9));
        assert_eq!(output.times("C, walk"), Some([1.5, 2.0].as_slice()));
        assert_eq!(output.times("NOVA"), None);
        let values = [("peak".into(), 3.0, None), ("moves".into(), 4.0, Some(5.0))];
        assert_eq!(output.values, values);
    }

    #[test]
    fn other_lines_are_refused() {
        for line in ["time\tC", "time\tC\t1 x", "value\tpeak\tmuch", "peak 3"] {
            let error = read(line).expect_err("another form");
            assert_eq!(error, format!("not understood: {line}"));
        }
    }
}
