//! `space-reader` looks into a sandbox's disk image for node-worker.
//!
//! The image was written by a hostile guest, so nothing of it reaches the host's kernel as a file
//! system: it is parsed here by a memory-safe library. Before the first byte of an image is read
//! the process gives up everything but reading its open files and writing its answer.
//!
//! Answers: one JSON object a line (`stat`, `list`, `changes`) or raw bytes (`read`) on standard
//! output; a failure is one line on standard error and the exit code of its kind.

mod args;
mod changes;
mod confine;
mod entry;
mod failure;
mod image;
mod owners;
mod tree;

use args::Command;
use failure::{Failure, Result};
use image::Image;
use std::io::{BufWriter, Write};
use std::process::ExitCode;

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        // The reader of the answer has enough of it.
        Err(Failure::Gone) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("{failure}");
            failure.exit_code()
        }
    }
}

fn run() -> Result<()> {
    let command = args::parse(std::env::args().skip(1))?;
    let files = command.open_images()?;
    confine::give_up_everything_else()?;
    let images = files
        .into_iter()
        .map(Image::load)
        .collect::<Result<Vec<_>>>()?;
    let mut out = BufWriter::with_capacity(image::PIECE_BYTES, std::io::stdout().lock());
    match (&command, images.as_slice()) {
        (Command::Stat { path, .. }, [image]) => tree::stat(image, path, &mut out)?,
        (
            Command::List {
                path, after, limit, ..
            },
            [image],
        ) => tree::list(image, path, after, *limit, &mut out)?,
        (
            Command::Read {
                path,
                offset,
                length,
                ..
            },
            [image],
        ) => image.copy(path, *offset, *length, &mut out)?,
        (Command::Changes { query, .. }, [old, new]) => {
            changes::write(old, new, query, &mut out)?;
        }
        _ => return Err(Failure::usage("one image, or two for changes")),
    }
    out.flush().map_err(Failure::output)
}
