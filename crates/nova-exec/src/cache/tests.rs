//! Tests of the contents that a cache returns and of those that it refuses.

use super::*;
use std::os::unix::fs::{PermissionsExt, symlink};

/// Returns a cache in a new folder. The folder exists as long as the first component.
fn cache() -> (tempfile::TempDir, Cache) {
    let folder = tempfile::tempdir().expect("a folder");
    let cache = Cache::in_folder(folder.path().join("cache"));
    (folder, cache)
}

fn put(cache: &Cache, key: &str, content: &[u8]) {
    let mut warnings = Vec::new();
    cache.put(&Key::of(&[key]), content, &mut warnings);
    assert_eq!(warnings, [""; 0]);
}

/// Returns the content under a key, and the warnings.
fn get(cache: &Cache, key: &str) -> (Option<Vec<u8>>, String) {
    let mut warnings = Vec::new();
    let content = cache.get(&Key::of(&[key]), &mut warnings);
    (content, warnings.join("\n"))
}

fn entries(cache: &Cache) -> Vec<PathBuf> {
    let listing = fs::read_dir(&cache.folder).expect("a folder").flatten();
    listing.map(|entry| entry.path()).collect()
}

fn only_entry(cache: &Cache) -> PathBuf {
    let entries = entries(cache);
    assert_eq!(entries.len(), 1);
    entries.into_iter().next().expect("an entry")
}

#[test]
fn entries_come_back() {
    let (_folder, cache) = cache();
    assert_eq!(get(&cache, "key"), (None, String::new()));
    put(&cache, "key", b"code");
    assert_eq!(get(&cache, "key"), (Some(b"code".to_vec()), String::new()));
    assert_eq!(get(&cache, "other key"), (None, String::new()));
    let mode = fs::metadata(&cache.folder).expect("there").permissions();
    assert_eq!(mode.mode() & 0o777, 0o700);
    assert_ne!(Key::of(&["a", "b"]), Key::of(&["ab", ""]));
}

#[test]
fn the_number_of_entries_is_bounded() {
    let (_folder, cache) = cache();
    for k in 0..MAXIMUM_ENTRIES + 5 {
        put(&cache, &k.to_string(), b"code");
    }
    assert_eq!(entries(&cache).len(), MAXIMUM_ENTRIES);
}

#[test]
fn a_folder_that_cannot_be_is_no_error() {
    let file = tempfile::NamedTempFile::new().expect("a file");
    let cache = Cache::in_folder(file.path().join("below"));
    put(&cache, "key", b"code");
    assert_eq!(get(&cache, "key"), (None, String::new()));
}

/// A way to damage an entry with the content `code`, and the message about it.
type Damage = (fn(&Path), &'static str);

#[test]
fn what_is_not_as_it_was_written_is_not_given() {
    let damages: [Damage; 7] = [
        (|path| fs::write(path, b"cod").expect("cut"), "is not as"),
        (|path| fs::write(path, b"").expect("cut"), "is not as"),
        (|path| fs::write(path, b"Code").expect("other"), "is not as"),
        (
            |path| {
                let mode = fs::Permissions::from_mode(0o602);
                fs::set_permissions(path, mode).expect("own");
            },
            "can be written by other users",
        ),
        (
            |path| {
                let elsewhere = path.with_extension("moved");
                fs::rename(path, &elsewhere).expect("moved");
                symlink(&elsewhere, path).expect("linked");
            },
            "",
        ),
        (
            |path| {
                fs::remove_file(path).expect("removed");
                fs::create_dir(path).expect("made");
            },
            "is no plain file",
        ),
        (
            |path| {
                fs::remove_file(path).expect("removed");
                rustix::fs::mknodat(
                    rustix::fs::CWD,
                    path,
                    rustix::fs::FileType::Fifo,
                    rustix::fs::Mode::from_raw_mode(0o600),
                    0,
                )
                .expect("made");
            },
            "is no plain file",
        ),
    ];
    for (damage, said) in damages {
        let (_folder, cache) = cache();
        put(&cache, "key", b"code");
        damage(&only_entry(&cache));
        let (content, warnings) = get(&cache, "key");
        assert_eq!(content, None, "{said}");
        assert!(
            warnings.contains(said) && warnings.contains("again"),
            "{warnings}"
        );
    }
}

#[test]
fn an_entry_of_another_key_is_not_given() {
    let (_folder, cache) = cache();
    put(&cache, "one", b"code");
    let one = only_entry(&cache);
    let digest = one.to_string_lossy();
    let (_, digest) = digest.rsplit_once('-').expect("two digests");
    let other = Key::of(&["other"]).start() + digest;
    fs::copy(&one, cache.folder.join(other)).expect("copied");
    let (content, warnings) = get(&cache, "other");
    assert_eq!(content, None);
    assert!(warnings.contains("is not as it was written"), "{warnings}");
}

#[test]
fn a_folder_of_others_is_not_used() {
    let (folder, cache) = cache();
    put(&cache, "key", b"code");
    fs::set_permissions(&cache.folder, fs::Permissions::from_mode(0o777)).expect("own");
    let (content, warnings) = get(&cache, "key");
    assert_eq!(content, None);
    assert!(
        warnings.contains("can be written by other users"),
        "{warnings}"
    );
    put(&cache, "other", b"code");
    only_entry(&cache);
    let link = folder.path().join("link");
    symlink(&cache.folder, &link).expect("linked");
    let (content, warnings) = get(&Cache::in_folder(link), "key");
    assert_eq!(content, None);
    assert!(warnings.contains("is a symbolic link"), "{warnings}");
}

#[test]
fn what_belongs_to_another_user_is_not_used() {
    let (_folder, cache) = cache();
    put(&cache, "key", b"code");
    let entry = only_entry(&cache);
    if std::os::unix::fs::chown(&entry, Some(65534), None).is_err() {
        println!("skipped: files of other users (only root can make some)");
        return;
    }
    let (content, warnings) = get(&cache, "key");
    assert_eq!(content, None);
    assert!(warnings.contains("belongs to another user"), "{warnings}");
    put(&cache, "key", b"code");
    std::os::unix::fs::chown(&cache.folder, Some(65534), None).expect("given away");
    let (content, warnings) = get(&cache, "key");
    assert_eq!(content, None);
    assert!(warnings.contains("belongs to another user"), "{warnings}");
}
