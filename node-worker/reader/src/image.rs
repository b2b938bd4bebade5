//! One image: the library behind a reader of our own, and content in pieces.

use crate::entry::encoded;
use crate::failure::{Failure, Result};
use crate::owners::Owners;
use ext4_view::{Ext4, Ext4Read, File, Path, PathBuf};
use std::error::Error;
use std::io::Write;
use std::os::unix::fs::FileExt;

/// One piece of content, and of the answer.
pub const PIECE_BYTES: usize = 64 << 10;

/// As the kernel's own limit for a path.
const PATH_BYTES_MAX: usize = 4096;

pub struct Image {
    pub fs: Ext4,
    pub owners: Owners,
}

/// Reads at a place without moving one, and never past what the file has.
struct Disk(std::fs::File);

impl Ext4Read for Disk {
    fn read(
        &mut self,
        start_byte: u64,
        dst: &mut [u8],
    ) -> std::result::Result<(), Box<dyn Error + Send + Sync>> {
        Ok(self.0.read_exact_at(dst, start_byte)?)
    }
}

impl Image {
    pub fn load(file: std::fs::File) -> Result<Self> {
        let fs = Ext4::load(Box::new(Disk(file))).map_err(|e| Failure::of("/", &e))?;
        let owners = Owners::of(&fs);
        Ok(Self { fs, owners })
    }

    /// Copies a regular file's bytes; symbolic links are followed inside the image.
    pub fn copy(&self, path: &[u8], offset: u64, length: u64, out: &mut impl Write) -> Result<()> {
        let shown = encoded(path);
        let mut file = self
            .fs
            .open(absolute(path)?.as_path())
            .map_err(|e| Failure::of(&shown, &e))?;
        file.seek_to(offset).map_err(|e| Failure::of(&shown, &e))?;
        let mut left = length;
        each_piece(&shown, &mut file, |piece| {
            let take = piece.len().min(usize::try_from(left).unwrap_or(usize::MAX));
            out.write_all(&piece[..take]).map_err(Failure::output)?;
            left -= take as u64;
            Ok(left > 0)
        })
    }
}

/// A path as the library takes it, checked.
pub fn absolute(path: &[u8]) -> Result<PathBuf> {
    if path.len() > PATH_BYTES_MAX {
        return Err(Failure::Limit(format!(
            "a path has at most {PATH_BYTES_MAX} bytes"
        )));
    }
    let path = Path::try_from(path).map_err(|e| Failure::NotFound(format!("path: {e}")))?;
    if !path.is_absolute() {
        return Err(Failure::usage("paths in an image begin with /"));
    }
    Ok(PathBuf::from(path))
}

/// Gives the rest of a file piece by piece, until its end or until `take` has enough.
pub fn each_piece(
    shown: &str,
    file: &mut File,
    mut take: impl FnMut(&[u8]) -> Result<bool>,
) -> Result<()> {
    let mut buffer = vec![0; PIECE_BYTES];
    loop {
        let got = fill(shown, file, &mut buffer)?;
        if got == 0 || !take(&buffer[..got])? {
            return Ok(());
        }
    }
}

/// Fills the buffer unless the file ends before.
pub fn fill(shown: &str, file: &mut File, buffer: &mut [u8]) -> Result<usize> {
    let mut got = 0;
    while got < buffer.len() {
        match file.read_bytes(&mut buffer[got..]) {
            Ok(0) => break,
            Ok(more) => got += more,
            Err(e) => return Err(Failure::of(shown, &e)),
        }
    }
    Ok(got)
}
