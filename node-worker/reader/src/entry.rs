//! One file of an image as the answer shows it.

use crate::failure::{Failure, Result};
use crate::image::Image;
use ext4_view::{FileType, Metadata, Path};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_encode};
use serde::Serialize;
use std::io::Write;

/// All but what the platform's API leaves as it is.
const ESCAPED: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'~')
    .remove(b'/');

const NANOS: i64 = 1_000_000_000;

/// Paths and link targets are percent-encoded bytes, times nanoseconds since 1970.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Entry {
    pub path: String,
    pub kind: &'static str,
    pub size: u64,
    pub mode: u16,
    pub owner: String,
    pub group: String,
    pub modified_nanos: i64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target: Option<String>,
}

impl Entry {
    pub fn of(image: &Image, path: &[u8], metadata: &Metadata) -> Result<Self> {
        let shown = encoded(path);
        let target = if metadata.is_symlink() {
            let path = Path::try_from(path).map_err(|e| Failure::Damaged(format!("{e}")))?;
            let target = image
                .fs
                .read_link(path)
                .map_err(|e| Failure::of(&shown, &e))?;
            Some(encoded(target.as_ref()))
        } else {
            None
        };
        let time = metadata.modified();
        Ok(Self {
            path: shown,
            kind: kind(metadata.file_type()),
            size: metadata.len(),
            mode: metadata.mode(),
            owner: image.owners.user(metadata.uid()),
            group: image.owners.group(metadata.gid()),
            modified_nanos: time
                .seconds()
                .saturating_mul(NANOS)
                .saturating_add(i64::from(time.nanoseconds())),
            target,
        })
    }
}

/// The words of the platform's API.
pub fn kind(kind: FileType) -> &'static str {
    if kind.is_regular_file() {
        "file"
    } else if kind.is_dir() {
        "directory"
    } else if kind.is_symlink() {
        "symlink"
    } else {
        "other"
    }
}

pub fn encoded(bytes: &[u8]) -> String {
    percent_encode(bytes, ESCAPED).to_string()
}

pub fn write_line(line: &impl Serialize, out: &mut impl Write) -> Result<()> {
    serde_json::to_writer(&mut *out, line).map_err(|e| Failure::output(e.into()))?;
    out.write_all(b"\n").map_err(Failure::output)
}
