//! What differs between two images of one file system's history.
//!
//! Both trees are walked side by side in the order of names, so a page can be continued after any
//! path. A file whose size and all four times are the same is the same; where they differ, or are
//! so new that a write could have come within the clock's tick, the contents are compared.

use crate::entry::{Entry, encoded, write_line};
use crate::failure::{Failure, Result};
use crate::image::{Image, PIECE_BYTES, absolute, each_piece, fill};
use crate::tree::{Children, children, joined, metadata};
use ext4_view::{File, Metadata};
use serde::Serialize;
use sha2::{Digest, Sha256};
use std::cmp::Ordering;
use std::io::Write;

/// Entries looked at for one page; a larger tree is refused rather than walked for hours.
const ENTRIES_MAX: u64 = 20_000_000;

#[derive(Debug)]
pub struct Query {
    /// Changes behind this path only; empty: from the beginning.
    pub after: Vec<u8>,
    pub limit: u64,
    /// A file last written at or after this second (of the guest's clock) is always compared.
    pub sure_before: i64,
    /// Adds the SHA-256 of each added or modified file's content.
    pub hash: bool,
}

#[derive(Serialize)]
struct Change {
    change: &'static str,
    /// Of a modified one: content, mode, owner, time, target, kind.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    what: Vec<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    sha256: Option<String>,
    #[serde(flatten)]
    entry: Entry,
}

struct Walk<'a, W: Write> {
    old: &'a Image,
    new: &'a Image,
    query: &'a Query,
    left: u64,
    seen: u64,
    out: &'a mut W,
}

/// Directories still to be entered, the next one last. Explicit: the guest decides how deep.
struct Pending {
    path: Vec<u8>,
    old: Option<Metadata>,
    new: Option<Metadata>,
}

pub fn write<W: Write>(old: &Image, new: &Image, query: &Query, out: &mut W) -> Result<()> {
    let mut walk = Walk {
        old,
        new,
        query,
        left: query.limit,
        seen: 0,
        out,
    };
    walk.run()
}

impl<W: Write> Walk<'_, W> {
    fn run(&mut self) -> Result<()> {
        let mut pending = vec![Pending {
            path: b"/".to_vec(),
            old: Some(metadata(self.old, b"/")?),
            new: Some(metadata(self.new, b"/")?),
        }];
        while let Some(next) = pending.pop() {
            self.seen += 1;
            if self.seen > ENTRIES_MAX {
                return Err(Failure::Limit(format!("more than {ENTRIES_MAX} files")));
            }
            if self.is_behind(&next.path) {
                if self.left == 0 {
                    return Ok(());
                }
                self.compare(&next)?;
            }
            if self.may_hold_more(&next.path) {
                self.enter(&next, &mut pending)?;
            }
        }
        Ok(())
    }

    fn is_behind(&self, path: &[u8]) -> bool {
        self.query.after.is_empty() || in_order(path, &self.query.after) == Ordering::Greater
    }

    /// False where everything beneath was in an earlier page.
    fn may_hold_more(&self, path: &[u8]) -> bool {
        self.is_behind(path) || is_within(&self.query.after, path)
    }

    fn enter(&self, directory: &Pending, pending: &mut Vec<Pending>) -> Result<()> {
        let mut old = of(self.old, &directory.path, directory.old.as_ref())?;
        let new = of(self.new, &directory.path, directory.new.as_ref())?;
        let mut all: Vec<Pending> = Vec::with_capacity(new.len());
        for (name, metadata) in new {
            all.push(Pending {
                path: joined(&directory.path, &name),
                old: old.remove(&name),
                new: Some(metadata),
            });
        }
        all.extend(old.into_iter().map(|(name, metadata)| Pending {
            path: joined(&directory.path, &name),
            old: Some(metadata),
            new: None,
        }));
        all.sort_by(|a, b| b.path.cmp(&a.path));
        pending.append(&mut all);
        Ok(())
    }

    fn compare(&mut self, at: &Pending) -> Result<()> {
        let (change, what, image, metadata) = match (&at.old, &at.new) {
            (None, Some(new)) => ("added", Vec::new(), self.new, new),
            (Some(old), None) => ("deleted", Vec::new(), self.old, old),
            (Some(old), Some(new)) => {
                let what = self.differences(&at.path, old, new)?;
                if what.is_empty() {
                    return Ok(());
                }
                ("modified", what, self.new, new)
            }
            (None, None) => return Ok(()),
        };
        let hashed =
            self.query.hash && change != "deleted" && metadata.file_type().is_regular_file();
        let line = Change {
            change,
            what,
            sha256: if hashed {
                Some(sha256(image, &at.path)?)
            } else {
                None
            },
            entry: Entry::of(image, &at.path, metadata)?,
        };
        self.left -= 1;
        write_line(&line, self.out)
    }

    fn differences(
        &self,
        path: &[u8],
        old: &Metadata,
        new: &Metadata,
    ) -> Result<Vec<&'static str>> {
        let fresh = old.modified().seconds() >= self.query.sure_before;
        if old == new && !fresh {
            return Ok(Vec::new());
        }
        let mut what = Vec::new();
        if old.file_type() != new.file_type() {
            what.push("kind");
        } else if new.file_type().is_regular_file() {
            if old.len() != new.len() || !self.same_content(path)? {
                what.push("content");
            }
        } else if new.is_symlink() && self.target(self.old, path)? != self.target(self.new, path)? {
            what.push("target");
        }
        if old.mode() != new.mode() {
            what.push("mode");
        }
        if (old.uid(), old.gid()) != (new.uid(), new.gid()) {
            what.push("owner");
        }
        // A directory's time changes with its entries, which are told themselves.
        if old.modified() != new.modified() && !new.is_dir() {
            what.push("time");
        }
        Ok(what)
    }

    fn same_content(&self, path: &[u8]) -> Result<bool> {
        let shown = encoded(path);
        let (mut old, mut new) = (open(self.old, path)?, open(self.new, path)?);
        let mut before = vec![0; PIECE_BYTES];
        let mut after = vec![0; PIECE_BYTES];
        loop {
            let left = fill(&shown, &mut old, &mut before)?;
            let right = fill(&shown, &mut new, &mut after)?;
            if before[..left] != after[..right] {
                return Ok(false);
            }
            if left == 0 {
                return Ok(true);
            }
        }
    }

    fn target(&self, image: &Image, path: &[u8]) -> Result<Vec<u8>> {
        let target = image
            .fs
            .read_link(absolute(path)?.as_path())
            .map_err(|e| Failure::of(&encoded(path), &e))?;
        Ok(AsRef::<[u8]>::as_ref(&target).to_vec())
    }
}

fn of(image: &Image, path: &[u8], metadata: Option<&Metadata>) -> Result<Children> {
    match metadata {
        Some(metadata) if metadata.is_dir() => children(image, path),
        _ => Ok(Children::new()),
    }
}

fn open(image: &Image, path: &[u8]) -> Result<File> {
    image
        .fs
        .open(absolute(path)?.as_path())
        .map_err(|e| Failure::of(&encoded(path), &e))
}

fn sha256(image: &Image, path: &[u8]) -> Result<String> {
    let mut digest = Sha256::new();
    each_piece(&encoded(path), &mut open(image, path)?, |piece| {
        digest.update(piece);
        Ok(true)
    })?;
    Ok(format!("{:x}", digest.finalize()))
}

/// The order of the walk: a directory, then what is in it, then its next sibling.
fn in_order(left: &[u8], right: &[u8]) -> Ordering {
    components(left).cmp(components(right))
}

fn is_within(path: &[u8], directory: &[u8]) -> bool {
    let mut above = components(directory);
    let mut below = components(path);
    above.all(|name| below.next() == Some(name))
}

fn components(path: &[u8]) -> impl Iterator<Item = &[u8]> {
    path.split(|b| *b == b'/').filter(|name| !name.is_empty())
}
