//! Names of users and groups as the image's own /etc tells them; else their numbers.

use ext4_view::Ext4;
use std::collections::BTreeMap;

/// More than any system's list; a larger one is not read, and numbers are shown.
const LIST_BYTES_MAX: u64 = 256 << 10;

/// A name longer than this is no name.
const NAME_BYTES_MAX: usize = 64;

#[derive(Default)]
pub struct Owners {
    users: BTreeMap<u32, String>,
    groups: BTreeMap<u32, String>,
}

impl Owners {
    pub fn of(fs: &Ext4) -> Self {
        Self {
            users: list(fs, "/etc/passwd"),
            groups: list(fs, "/etc/group"),
        }
    }

    pub fn user(&self, id: u32) -> String {
        self.users.get(&id).cloned().unwrap_or(id.to_string())
    }

    pub fn group(&self, id: u32) -> String {
        self.groups.get(&id).cloned().unwrap_or(id.to_string())
    }
}

/// Whatever is wrong with it, the list is a courtesy: without it there are numbers.
fn list(fs: &Ext4, path: &str) -> BTreeMap<u32, String> {
    let small = fs
        .metadata(path)
        .is_ok_and(|m| m.file_type().is_regular_file() && m.len() <= LIST_BYTES_MAX);
    if !small {
        return BTreeMap::new();
    }
    let content = fs.read(path).unwrap_or_default();
    let mut names = BTreeMap::new();
    for line in String::from_utf8_lossy(&content).lines() {
        let mut fields = line.split(':');
        let name = fields.next().unwrap_or_default();
        let id = fields.nth(1).and_then(|id| id.parse().ok());
        if let (Some(id), 1..=NAME_BYTES_MAX) = (id, name.len()) {
            names.entry(id).or_insert_with(|| name.to_owned());
        }
    }
    names
}
