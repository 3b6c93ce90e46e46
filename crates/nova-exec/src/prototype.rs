//! The C types of an entry's parameters, read from its prototype in the generated header. The
//! bridge thus sees the same types as a user's compiler.

/// Returns the types of the parameters of `int symbol(…)`, in order. Returns `None` when the header
/// has no such prototype.
pub fn parameter_types(header: &str, symbol: &str) -> Option<Vec<String>> {
    let start = format!("int {symbol}(");
    let at = header.match_indices(&start).map(|(at, _)| at).find(|at| {
        let before = header[..*at].chars().next_back();
        before.is_none_or(|c| c.is_whitespace())
    })?;
    let list = &header[at + start.len()..];
    let list = &list[..list.find(')')?];
    if list.trim() == "void" || list.trim().is_empty() {
        return Some(Vec::new());
    }
    Some(list.split(',').map(parameter_type).collect())
}

/// Returns the type of a parameter: `const float *x` gives `const float *`.
fn parameter_type(parameter: &str) -> String {
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let ty = parameter.trim().trim_end_matches(is_name);
    ty.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Returns the type that a pointer type points to.
pub fn target(ty: &str) -> Option<&str> {
    ty.trim_end().strip_suffix('*').map(str::trim_end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_of_a_prototype() {
        let header = "int a_dot(int x);\nint dot(int64_t *result_len, float **result,\n        \
                      const float *X, nova_tuple2_int_bool p);\nint none(void);\n";
        let types = parameter_types(header, "dot").expect("it is there");
        assert_eq!(
            types,
            [
                "int64_t *",
                "float **",
                "const float *",
                "nova_tuple2_int_bool"
            ]
        );
        assert_eq!(types.first().and_then(|ty| target(ty)), Some("int64_t"));
        assert_eq!(parameter_types(header, "none"), Some(Vec::new()));
        assert_eq!(parameter_types(header, "other"), None);
    }
}
