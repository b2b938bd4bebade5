//! Users as the workload's /etc/passwd and /etc/group name them. The files are the workload's, so
//! this runs in a forked child only, reads a bounded part and believes no more than numbers.

use std::fs::OpenOptions;
use std::io::Read;
use std::os::unix::fs::OpenOptionsExt;

const FILE_BYTES_MAX: u64 = 1 << 20;
const GROUPS_MAX: usize = 64;

#[derive(Debug, PartialEq, Eq, Clone)]
pub struct User {
    pub name: Vec<u8>,
    pub uid: u32,
    pub gid: u32,
    pub home: Vec<u8>,
    pub shell: Vec<u8>,
    pub groups: Vec<u32>,
}

/// What a machine without /etc/passwd has.
fn root() -> User {
    User {
        name: b"root".to_vec(),
        uid: 0,
        gid: 0,
        home: b"/root".to_vec(),
        shell: b"/bin/sh".to_vec(),
        groups: vec![0],
    }
}

/// By name, or by number when it is all digits. An empty name is root.
pub fn resolve(name: &[u8]) -> Option<User> {
    let passwd = read("/etc/passwd");
    let mut user = match find_user(&passwd, if name.is_empty() { b"root" } else { name }) {
        Some(user) => user,
        None if name.is_empty() || name == b"root" => root(),
        None => return None,
    };
    user.groups = find_groups(&read("/etc/group"), &user);
    Some(user)
}

fn read(path: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    // Without O_NONBLOCK a FIFO of that name would hold this child for ever.
    let file = OpenOptions::new().read(true).custom_flags(libc::O_NONBLOCK).open(path);
    if let Ok(file) = file
        && file.metadata().is_ok_and(|meta| meta.is_file())
        && file.take(FILE_BYTES_MAX).read_to_end(&mut bytes).is_err()
    {
        bytes.clear();
    }
    bytes
}

pub fn find_user(passwd: &[u8], wanted: &[u8]) -> Option<User> {
    let lines = || passwd.split(|&b| b == b'\n').filter_map(parse_user);
    let by_name = lines().find(|user| user.name == wanted);
    by_name.or_else(|| {
        let uid = number(wanted)?;
        lines().find(|user| user.uid == uid)
    })
}

fn parse_user(line: &[u8]) -> Option<User> {
    let fields: Vec<&[u8]> = line.split(|&b| b == b':').collect();
    let [name, _, uid, gid, _, home, shell] = fields[..] else {
        return None;
    };
    if name.is_empty()
        || name.starts_with(b"#")
        || [name, home, shell].iter().any(|f| f.contains(&0))
    {
        return None;
    }
    let (uid, gid) = (number(uid)?, number(gid)?);
    let home = if home.starts_with(b"/") { home } else { b"/" };
    let shell = if shell.starts_with(b"/") { shell } else { b"/bin/sh" };
    Some(User {
        name: name.to_vec(),
        uid,
        gid,
        home: home.to_vec(),
        shell: shell.to_vec(),
        groups: vec![gid],
    })
}

pub fn find_groups(group: &[u8], user: &User) -> Vec<u32> {
    let mut groups = vec![user.gid];
    for line in group.split(|&b| b == b'\n') {
        let fields: Vec<&[u8]> = line.split(|&b| b == b':').collect();
        let [_, _, gid, members] = fields[..] else {
            continue;
        };
        let Some(gid) = number(gid) else { continue };
        let member = members.split(|&b| b == b',').any(|name| name == user.name);
        if member && !groups.contains(&gid) && groups.len() < GROUPS_MAX {
            groups.push(gid);
        }
    }
    groups
}

/// Name of a uid or gid, for listings; the number when there is none.
pub struct Names {
    users: Vec<u8>,
    groups: Vec<u8>,
}

impl Names {
    pub fn read() -> Names {
        Names { users: read("/etc/passwd"), groups: read("/etc/group") }
    }

    pub fn user(&self, uid: u32) -> String {
        name_of(&self.users, uid)
    }

    pub fn group(&self, gid: u32) -> String {
        name_of(&self.groups, gid)
    }
}

/// Both files have the name first and the number third.
fn name_of(file: &[u8], id: u32) -> String {
    for line in file.split(|&b| b == b'\n') {
        let mut fields = line.split(|&b| b == b':');
        if let (Some(name), Some(_), Some(field)) = (fields.next(), fields.next(), fields.next())
            && number(field) == Some(id)
            && !name.is_empty()
        {
            return String::from_utf8_lossy(&name[..name.len().min(64)]).into_owned();
        }
    }
    id.to_string()
}

/// Digits only; -1 (all ones) means "unchanged" to the kernel and is no id.
fn number(digits: &[u8]) -> Option<u32> {
    if digits.is_empty() || digits.len() > 10 || !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    std::str::from_utf8(digits).ok()?.parse().ok().filter(|&id| id != u32::MAX)
}

#[cfg(test)]
#[path = "passwd_test.rs"]
mod tests;
