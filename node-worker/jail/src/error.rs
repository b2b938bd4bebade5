//! Failures of a start, each of one kind that node-manager can tell apart by the exit code.

use std::fmt;
use std::io;
use std::process::ExitCode;

pub type Result<T> = std::result::Result<T, Failure>;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The machine refused something.
    Failed,
    /// The call itself is wrong.
    Usage,
    /// A file of the VM is missing or not what it must be.
    BadFiles,
    /// The engine bundle is missing or not root's.
    NoBundle,
}

#[derive(Debug, PartialEq, Eq)]
pub struct Failure {
    kind: Kind,
    detail: String,
}

impl Kind {
    const ALL: [(Kind, &'static str, u8); 4] = [
        (Kind::Failed, "failed", 1),
        (Kind::Usage, "usage", 2),
        (Kind::BadFiles, "bad-files", 3),
        (Kind::NoBundle, "no-bundle", 4),
    ];

    fn entry(self) -> (&'static str, u8) {
        let (_, name, code) = Kind::ALL[self as usize];
        (name, code)
    }
}

impl Failure {
    pub fn new(kind: Kind, detail: String) -> Failure {
        Failure { kind, detail }
    }

    pub fn failed(detail: String) -> Failure {
        Failure::new(Kind::Failed, detail)
    }

    /// For `map_err`: a system call that should have worked.
    pub fn system(call: &str) -> impl FnOnce(io::Error) -> Failure + '_ {
        move |e| Failure::failed(format!("{call}: {e}"))
    }

    /// For `map_err`: something of node-worker's is not as it must be.
    pub fn bad_files(what: &str) -> impl FnOnce(io::Error) -> Failure + '_ {
        move |e| Failure::new(Kind::BadFiles, format!("{what}: {e}"))
    }

    pub fn exit_code(&self) -> ExitCode {
        ExitCode::from(self.kind.entry().1)
    }

    /// Reads what `Display` wrote; used across the status pipe.
    pub fn from_line(line: &str) -> Option<Failure> {
        let (name, detail) = line.split_once(": ")?;
        Kind::ALL
            .iter()
            .find(|(_, n, _)| *n == name)
            .map(|(kind, _, _)| Failure::new(*kind, detail.to_owned()))
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}: {}",
            self.kind.entry().0,
            self.detail.replace('\n', " ")
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_survives_the_status_pipe() {
        for (kind, _, code) in Kind::ALL {
            let failure = Failure::new(kind, "disk: it is\na link".to_owned());
            let read = Failure::from_line(&failure.to_string());
            assert_eq!(
                read,
                Some(Failure::new(kind, "disk: it is a link".to_owned()))
            );
            assert_eq!(kind.entry().1, code);
        }
        assert_eq!(Failure::from_line("ok 17"), None);
        assert_eq!(Failure::from_line(""), None);
    }
}
