//! What can go wrong, each kind with its exit code: the contract with node-worker.

use ext4_view::Ext4Error;
use std::fmt::{self, Display, Formatter};
use std::process::ExitCode;

pub type Result<T> = std::result::Result<T, Failure>;

#[derive(Debug)]
pub enum Failure {
    /// The command line; only node-worker writes it, so this is a fault of ours.
    Usage(String),
    NotFound(String),
    IsDirectory(String),
    NotDirectory(String),
    /// A device, a pipe, an encrypted file: nothing that can be read from an image.
    NotReadable(String),
    /// The image is damaged, or uses what the reader does not know.
    Damaged(String),
    /// Deeper, larger or longer than the reader's limits.
    Limit(String),
    /// The machine: opening an image, confinement, writing the answer.
    Machine(String),
    /// Nobody reads the answer any more.
    Gone,
}

impl Failure {
    pub fn usage(what: &str) -> Self {
        Self::Usage(what.to_owned())
    }

    pub fn output(error: std::io::Error) -> Self {
        if error.kind() == std::io::ErrorKind::BrokenPipe {
            return Self::Gone;
        }
        Self::Machine(format!("writing the answer: {error}"))
    }

    /// `path` is as the caller gave it, percent-encoded.
    pub fn of(path: &str, error: &Ext4Error) -> Self {
        let text = format!("{path}: {error}");
        match error {
            Ext4Error::NotFound | Ext4Error::TooManySymlinks => Self::NotFound(text),
            Ext4Error::IsADirectory => Self::IsDirectory(text),
            Ext4Error::NotADirectory | Ext4Error::NotASymlink => Self::NotDirectory(text),
            Ext4Error::IsASpecialFile | Ext4Error::Encrypted => Self::NotReadable(text),
            Ext4Error::FileTooLarge | Ext4Error::PathTooLong => Self::Limit(text),
            _ => Self::Damaged(text),
        }
    }

    pub fn exit_code(&self) -> ExitCode {
        ExitCode::from(match self {
            Self::Gone => 0,
            Self::Machine(_) => 1,
            Self::Usage(_) => 2,
            Self::NotFound(_) => 3,
            Self::IsDirectory(_) => 4,
            Self::NotDirectory(_) => 5,
            Self::NotReadable(_) => 6,
            Self::Damaged(_) => 7,
            Self::Limit(_) => 8,
        })
    }
}

impl Display for Failure {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Gone => f.write_str("nobody reads"),
            Self::Usage(text)
            | Self::NotFound(text)
            | Self::IsDirectory(text)
            | Self::NotDirectory(text)
            | Self::NotReadable(text)
            | Self::Damaged(text)
            | Self::Limit(text)
            | Self::Machine(text) => f.write_str(text),
        }
    }
}
