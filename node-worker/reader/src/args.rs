//! The command line. Paths in an image are percent-encoded bytes, so that any name can be given.

use crate::changes::Query;
use crate::failure::{Failure, Result};
use percent_encoding::percent_decode_str;
use std::fs::{File, OpenOptions};
use std::os::unix::fs::OpenOptionsExt;

const USAGE: &str = "usage: space-reader stat IMAGE PATH
       space-reader list IMAGE PATH AFTER LIMIT
       space-reader read IMAGE PATH OFFSET LENGTH
       space-reader changes OLD-IMAGE NEW-IMAGE AFTER LIMIT SURE-BEFORE-SECONDS hash|plain";

#[derive(Debug)]
pub enum Command {
    Stat {
        image: String,
        path: Vec<u8>,
    },
    /// Entries with a name greater than `after`, at most `limit`.
    List {
        image: String,
        path: Vec<u8>,
        after: Vec<u8>,
        limit: u64,
    },
    Read {
        image: String,
        path: Vec<u8>,
        offset: u64,
        length: u64,
    },
    Changes {
        old: String,
        new: String,
        query: Query,
    },
}

pub fn parse(words: impl Iterator<Item = String>) -> Result<Command> {
    let words: Vec<String> = words.collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["stat", image, path] => Ok(Command::Stat {
            image: (*image).to_owned(),
            path: decoded(path),
        }),
        ["list", image, path, after, limit] => Ok(Command::List {
            image: (*image).to_owned(),
            path: decoded(path),
            after: decoded(after),
            limit: number(limit)?,
        }),
        ["read", image, path, offset, length] => Ok(Command::Read {
            image: (*image).to_owned(),
            path: decoded(path),
            offset: number(offset)?,
            length: number(length)?,
        }),
        ["changes", old, new, after, limit, sure_before, hash] => Ok(Command::Changes {
            old: (*old).to_owned(),
            new: (*new).to_owned(),
            query: Query {
                after: decoded(after),
                limit: number(limit)?,
                sure_before: sure_before.parse().map_err(|_| Failure::usage(USAGE))?,
                hash: match *hash {
                    "hash" => true,
                    "plain" => false,
                    _ => return Err(Failure::usage(USAGE)),
                },
            },
        }),
        _ => Err(Failure::usage(USAGE)),
    }
}

fn decoded(word: &str) -> Vec<u8> {
    percent_decode_str(word).collect()
}

fn number(word: &str) -> Result<u64> {
    word.parse().map_err(|_| Failure::usage(USAGE))
}

impl Command {
    /// The images, before the process is confined and can open nothing any more.
    pub fn open_images(&self) -> Result<Vec<File>> {
        match self {
            Self::Stat { image, .. } | Self::List { image, .. } | Self::Read { image, .. } => {
                Ok(vec![open(image)?])
            }
            Self::Changes { old, new, .. } => Ok(vec![open(old)?, open(new)?]),
        }
    }
}

fn open(path: &str) -> Result<File> {
    OpenOptions::new()
        .read(true)
        .custom_flags(libc::O_NOFOLLOW | libc::O_CLOEXEC)
        .open(path)
        .map_err(|e| Failure::Machine(format!("{path}: {e}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(line: &str) -> Result<Command> {
        parse(line.split(' ').map(str::to_owned))
    }

    #[test]
    fn any_name_can_be_given() {
        let Command::Stat { path, .. } = parsed("stat /i /a%ff%20b").unwrap() else {
            panic!("another command");
        };
        assert_eq!(path, b"/a\xff b");
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        for line in [
            "",
            "stat /i",
            "stat /i /p more",
            "list /i / a x",
            "read /i / -1 5",
            "changes /i /j / 10 0 perhaps",
            "mount /i /p",
        ] {
            assert!(matches!(parsed(line), Err(Failure::Usage(_))), "{line}");
        }
    }
}
