//! Directories in the order of their names' bytes, whatever order the image has them in.

use crate::entry::{Entry, encoded, write_line};
use crate::failure::{Failure, Result};
use crate::image::{Image, absolute};
use ext4_view::Metadata;
use std::collections::BTreeMap;
use std::io::Write;

/// Entries of one directory; with more it is not listed.
const CHILDREN_MAX: usize = 1_000_000;

/// A directory's entries by name.
pub type Children = BTreeMap<Vec<u8>, Metadata>;

pub fn stat(image: &Image, path: &[u8], out: &mut impl Write) -> Result<()> {
    let metadata = metadata(image, path)?;
    write_line(&Entry::of(image, path, &metadata)?, out)
}

pub fn list(
    image: &Image,
    path: &[u8],
    after: &[u8],
    limit: u64,
    out: &mut impl Write,
) -> Result<()> {
    let mut left = limit;
    for (name, metadata) in children(image, path)? {
        if name.as_slice() <= after && !after.is_empty() {
            continue;
        }
        if left == 0 {
            break;
        }
        left -= 1;
        write_line(&Entry::of(image, &joined(path, &name), &metadata)?, out)?;
    }
    Ok(())
}

/// Of the file itself, not of what a link points to.
pub fn metadata(image: &Image, path: &[u8]) -> Result<Metadata> {
    image
        .fs
        .symlink_metadata(absolute(path)?.as_path())
        .map_err(|e| Failure::of(&encoded(path), &e))
}

pub fn children(image: &Image, path: &[u8]) -> Result<Children> {
    let shown = encoded(path);
    let failed = |e| Failure::of(&shown, &e);
    let mut found = Children::new();
    for entry in image
        .fs
        .read_dir(absolute(path)?.as_path())
        .map_err(failed)?
    {
        let entry = entry.map_err(failed)?;
        let name = entry.file_name();
        let name = name.as_ref();
        if name == b"." || name == b".." {
            continue;
        }
        if found.len() == CHILDREN_MAX {
            return Err(Failure::Limit(format!(
                "{shown} has more than {CHILDREN_MAX} entries"
            )));
        }
        found.insert(name.to_vec(), entry.metadata().map_err(failed)?);
    }
    Ok(found)
}

pub fn joined(directory: &[u8], name: &[u8]) -> Vec<u8> {
    let mut path = directory.to_vec();
    if path.last() != Some(&b'/') {
        path.push(b'/');
    }
    path.extend_from_slice(name);
    path
}
