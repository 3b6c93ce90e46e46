//! Files as URIs.

use lsp_types::Uri;
use std::path::{Path, PathBuf};
use std::str::FromStr;

const SCHEME: &str = "file://";

/// Returns the path of a `file` URI. Documents that are no files have none.
pub fn path_of(uri: &Uri) -> Option<PathBuf> {
    let rest = uri.as_str().strip_prefix(SCHEME)?;
    let path = &rest[rest.find('/')?..];
    let decoded = decode(path)?;
    // `/C:/folder` on Windows.
    let drive = decoded.strip_prefix('/').filter(|_| cfg!(windows));
    Some(PathBuf::from(drive.unwrap_or(&decoded)))
}

/// Returns the URI of a file. A path that is not absolute has none.
pub fn uri_of(path: &Path) -> Option<Uri> {
    if !path.is_absolute() {
        return None;
    }
    let text = path.to_str()?.replace(std::path::MAIN_SEPARATOR, "/");
    let mut uri = SCHEME.to_string();
    if !text.starts_with('/') {
        uri.push('/');
    }
    for byte in text.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'-' | b'_' | b'.' | b'~' => {
                uri.push(char::from(byte));
            }
            _ => uri += &format!("%{byte:02X}"),
        }
    }
    Uri::from_str(&uri).ok()
}

/// Replaces `%41` and the like by the bytes that they stand for.
fn decode(text: &str) -> Option<String> {
    let mut bytes = Vec::new();
    let mut rest = text.as_bytes();
    while let Some((&first, after)) = rest.split_first() {
        rest = after;
        if first != b'%' {
            bytes.push(first);
            continue;
        }
        let digits = std::str::from_utf8(after.get(..2)?).ok()?;
        bytes.push(u8::from_str_radix(digits, 16).ok()?);
        rest = &after[2..];
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_survive() {
        for path in ["/a/b.nova", "/with space/é#?%.nova"] {
            let uri = uri_of(Path::new(path)).expect("a URI");
            assert_eq!(path_of(&uri).as_deref(), Some(Path::new(path)));
        }
        let untitled = Uri::from_str("untitled:Untitled-1").expect("a URI");
        assert_eq!(path_of(&untitled), None);
        assert_eq!(uri_of(Path::new("relative.nova")), None);
    }
}
