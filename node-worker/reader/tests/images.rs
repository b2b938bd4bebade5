//! The built program on images that mkfs.ext4 and debugfs make, whole and damaged.

use serde_json::Value;
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileExt, PermissionsExt, symlink};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

const READER: &str = env!("CARGO_BIN_EXE_space-reader");
const IMAGE_KIB: &str = "8192";

/// A directory of its own, removed at the end.
struct Place(PathBuf);

impl Place {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("space-reader-{}-{name}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        fs::create_dir(&path).unwrap();
        Self(path)
    }

    fn image(&self, name: &str, tree: &Path) -> PathBuf {
        let image = self.0.join(name);
        let made = Command::new("mkfs.ext4")
            .args(["-q", "-F", "-b", "4096", "-d"])
            .args([tree, &image])
            .arg(format!("{IMAGE_KIB}k"))
            .env("PATH", "/usr/sbin:/usr/bin:/sbin:/bin")
            .output()
            .expect("mkfs.ext4 is needed (package e2fsprogs)");
        assert!(made.status.success(), "{made:?}");
        image
    }

    /// A tree with all that a listing can show.
    fn tree(&self) -> PathBuf {
        let tree = self.0.join("tree");
        fs::create_dir_all(tree.join("home/deep/er")).unwrap();
        fs::create_dir_all(tree.join("etc")).unwrap();
        fs::write(tree.join("etc/passwd"), "root:x:0:0::/root:/bin/sh\n").unwrap();
        fs::write(tree.join("etc/group"), "wheel:x:0:\n").unwrap();
        fs::write(tree.join("home/a"), "first").unwrap();
        fs::write(tree.join("home/a.b"), "dot").unwrap();
        fs::write(tree.join("home/big"), vec![7; 300_000]).unwrap();
        fs::write(tree.join("home/deep/er/end"), "end").unwrap();
        fs::write(
            tree.join("home").join(OsStr::from_bytes(b"odd \xff\n")),
            "odd",
        )
        .unwrap();
        symlink("../etc/passwd", tree.join("home/link")).unwrap();
        fs::set_permissions(tree.join("home/a"), fs::Permissions::from_mode(0o4751)).unwrap();
        tree
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn run(words: &[&str]) -> Output {
    Command::new(READER).args(words).output().unwrap()
}

fn lines(words: &[&str]) -> Vec<Value> {
    let output = run(words);
    assert!(output.status.success(), "{words:?}: {output:?}");
    String::from_utf8(output.stdout)
        .unwrap()
        .lines()
        .map(|l| serde_json::from_str(l).unwrap())
        .collect()
}

fn text<'a>(value: &'a Value, field: &str) -> &'a str {
    value[field].as_str().unwrap()
}

fn debugfs(image: &Path, command: &str) {
    let done = Command::new("debugfs")
        .args(["-w", "-R", command])
        .arg(image)
        .env("PATH", "/usr/sbin:/usr/bin:/sbin:/bin")
        .output()
        .unwrap();
    assert!(done.status.success(), "{done:?}");
}

#[test]
fn files_are_shown_as_they_are() {
    let place = Place::new("show");
    let image = place.image("disk", &place.tree());
    let image = image.to_str().unwrap();

    let names: Vec<String> = lines(&["list", image, "/home", "", "100"])
        .iter()
        .map(|l| text(l, "path").to_owned())
        .collect();
    assert_eq!(
        names,
        [
            "/home/a",
            "/home/a.b",
            "/home/big",
            "/home/deep",
            "/home/link",
            "/home/odd%20%FF%0A"
        ]
    );
    let page = lines(&["list", image, "/home", "a.b", "2"]);
    assert_eq!(text(&page[0], "path"), "/home/big");
    assert_eq!(page.len(), 2);

    let file = &lines(&["stat", image, "/home/a"])[0];
    assert_eq!((text(file, "kind"), &file["size"]), ("file", &5.into()));
    assert_eq!(file["mode"], 0o4751);
    assert_eq!(
        (text(file, "owner"), text(file, "group")),
        ("root", "wheel")
    );
    let link = &lines(&["stat", image, "/home/link"])[0];
    assert_eq!(
        (text(link, "kind"), text(link, "target")),
        ("symlink", "../etc/passwd")
    );

    assert_eq!(
        run(&["read", image, "/home/odd%20%ff%0a", "0", "99"]).stdout,
        b"odd"
    );
    assert_eq!(run(&["read", image, "/home/a", "1", "3"]).stdout, b"irs");
    assert_eq!(
        run(&["read", image, "/home/big", "0", "999999"]).stdout,
        vec![7; 300_000]
    );
    assert!(
        run(&["read", image, "/home/big", "300000", "1"])
            .stdout
            .is_empty()
    );
    let linked = run(&["read", image, "/home/link", "0", "4"]);
    assert_eq!(linked.stdout, b"root");
}

#[test]
fn each_refusal_has_its_code() {
    let place = Place::new("refuse");
    let image = place.image("disk", &place.tree());
    let image = image.to_str().unwrap();
    let long = "/x".repeat(2049);
    for (words, code) in [
        (vec!["stat", image, "/nothing"], 3),
        (vec!["read", image, "/home", "0", "1"], 4),
        (vec!["list", image, "/home/a", "", "1"], 5),
        (vec!["stat", image, &long], 8),
        (vec!["stat", image, "home"], 2),
        (vec!["stat", "/dev/null", "/"], 7),
        (vec!["stat", "/nothing/here", "/"], 1),
        (vec!["stat"], 2),
    ] {
        let output = run(&words);
        assert_eq!(output.status.code(), Some(code), "{words:?}: {output:?}");
        assert!(!String::from_utf8_lossy(&output.stderr).trim().is_empty());
    }
}

/// What changes says, by path.
fn changed(old: &Path, new: &Path, more: &[&str]) -> BTreeMap<String, String> {
    let mut words = vec!["changes", old.to_str().unwrap(), new.to_str().unwrap()];
    words.extend_from_slice(more);
    lines(&words)
        .iter()
        .map(|l| {
            let what: Vec<&str> = l["what"]
                .as_array()
                .map(|all| all.iter().map(|w| w.as_str().unwrap()).collect())
                .unwrap_or_default();
            let line = format!("{} {}", text(l, "change"), what.join(","));
            (text(l, "path").to_owned(), line.trim().to_owned())
        })
        .collect()
}

#[test]
fn changes_are_exact_and_can_be_had_in_pages() {
    let place = Place::new("changes");
    let tree = place.tree();
    let old = place.image("old", &tree);
    let new = place.0.join("new");
    fs::copy(&old, &new).unwrap();
    assert_eq!(
        changed(&old, &new, &["", "100", "9999999999", "plain"]),
        BTreeMap::new()
    );
    // The same again with every content compared.
    assert_eq!(
        changed(&old, &new, &["", "100", "0", "plain"]),
        BTreeMap::new()
    );

    let source = place.0.join("source");
    fs::write(&source, "FIRST").unwrap();
    debugfs(&new, "rm /home/a");
    debugfs(&new, &format!("write {} /home/a", source.display()));
    debugfs(&new, &format!("write {} /home/a.c", source.display()));
    debugfs(&new, "rm /home/deep/er/end");
    debugfs(&new, "rmdir /home/deep/er");
    debugfs(&new, "sif /home/a mtime 20200101000000");
    debugfs(&new, "sif /home/big mode 0100600");
    debugfs(&new, "sif /etc/group mtime 20200101000000");
    let all = changed(&old, &new, &["", "100", "9999999999", "plain"]);
    let expected: BTreeMap<String, String> = [
        ("/home/a", "modified content,mode,time"),
        ("/home/a.c", "added"),
        ("/home/big", "modified mode"),
        ("/home/deep/er", "deleted"),
        ("/home/deep/er/end", "deleted"),
        ("/etc/group", "modified time"),
    ]
    .into_iter()
    .map(|(p, c)| (p.to_owned(), c.to_owned()))
    .collect();
    assert_eq!(all, expected);

    let mut paged = BTreeMap::new();
    let mut after = String::new();
    loop {
        let page = changed(&old, &new, &[&after, "1", "9999999999", "plain"]);
        let Some((path, line)) = page.into_iter().next() else {
            break;
        };
        after.clone_from(&path);
        assert!(paged.insert(path, line).is_none(), "twice: {after}");
    }
    assert_eq!(paged, expected);

    let hashed = lines(&[
        "changes",
        old.to_str().unwrap(),
        new.to_str().unwrap(),
        "/home/a",
        "1",
        "9999999999",
        "hash",
    ]);
    // sha256sum of FIRST
    assert_eq!(
        text(&hashed[0], "sha256"),
        "267d3b81a9dcd937f3b46a17a57fc0ca2133373389336861142673a73fc17bc6"
    );
}

#[test]
fn a_write_that_left_no_trace_in_the_times_is_found_where_it_may_be() {
    let place = Place::new("tick");
    let old = place.image("old", &place.tree());
    let new = place.0.join("new");
    let mut bytes = fs::read(&old).unwrap();
    let at = bytes
        .windows(4096)
        .position(|w| w.iter().all(|b| *b == 7))
        .unwrap();
    bytes[at + 5] = 8;
    fs::write(&new, bytes).unwrap();
    assert_eq!(
        changed(&old, &new, &["", "9", "9999999999", "plain"]),
        BTreeMap::new()
    );
    let sure = changed(&old, &new, &["", "9", "0", "plain"]);
    assert_eq!(
        sure.get("/home/big").map(String::as_str),
        Some("modified content")
    );
}

/// Splitmix64: the same images for the same seed.
fn random(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut z = *state;
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// Superblock, group descriptors, bitmaps, inodes and directories of the small image lie here.
const METADATA_BYTES: u64 = 1 << 20;

#[test]
fn a_broken_image_is_an_error_and_nothing_worse() {
    let place = Place::new("fuzz");
    let good = place.image("good", &place.tree());
    let bad = place.0.join("bad");
    let seeds = std::env::var("SPACE_SEEDS").map_or(150, |n| n.parse().unwrap());
    let mut damaged = 0;
    for seed in 0..seeds {
        let mut state = seed;
        fs::copy(&good, &bad).unwrap();
        let file = fs::OpenOptions::new().write(true).open(&bad).unwrap();
        for _ in 0..=random(&mut state) % 40 {
            let at = random(&mut state) % METADATA_BYTES;
            let bytes = random(&mut state).to_le_bytes();
            let many = 1 + (random(&mut state) % 8) as usize;
            file.write_all_at(&bytes[..many], at).unwrap();
        }
        if random(&mut state) & 7 == 0 {
            file.set_len(random(&mut state) % (8 << 20)).unwrap();
        }
        let (good, bad) = (good.to_str().unwrap(), bad.to_str().unwrap());
        for words in [
            vec!["changes", good, bad, "", "1000", "0", "hash"],
            vec!["list", bad, "/home", "", "1000"],
            vec!["read", bad, "/home/big", "0", "1000000"],
        ] {
            let output = run(&words);
            let code = output.status.code();
            assert!(
                matches!(code, Some(0 | 3..=8)),
                "seed {seed}, {}: code {code:?}, signal {:?}: {}",
                words[0],
                output.status.signal(),
                String::from_utf8_lossy(&output.stderr)
            );
            damaged += i32::from(code == Some(7));
        }
    }
    assert!(damaged > 0, "no seed damaged anything");
}
