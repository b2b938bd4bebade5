//! The command line. Only node-manager calls us, yet every field is checked once more.

use crate::error::{Failure, Kind, Result};
use std::ffi::{CString, OsString};
use std::os::unix::ffi::OsStringExt;
use std::path::{Component, Path, PathBuf};

const CGROUPS_MAX: usize = 8;
const ARGUMENTS_MAX: usize = 256;

#[derive(Debug)]
pub struct Args {
    /// Root of the jail, made by root, named by digest.
    pub bundle: PathBuf,
    /// Trusted directory below which `live` lies.
    pub base: PathBuf,
    /// node-worker's directory of this VM, relative to `base`.
    pub live: PathBuf,
    /// Where the end is recorded; must not exist.
    pub record: PathBuf,
    /// Where the first bytes of stderr go; must not exist.
    pub log: PathBuf,
    /// The slot's network namespace.
    pub netns: PathBuf,
    /// The slot's directory in each controller's hierarchy.
    pub cgroups: Vec<PathBuf>,
    /// uid and gid of the slot.
    pub slot_id: u32,
    /// Owner of the sockets and of the VM's files.
    pub worker_uid: u32,
    pub worker_gid: u32,
    /// Size of the guest's memory file, for the limit on file sizes.
    pub memory_bytes: u64,
    /// Whether the VMM may use the machine's /dev/kvm.
    pub kvm: bool,
    /// Name of the VM, for the record.
    pub label: String,
    /// Arguments of the VMM, its own name first.
    pub command: Vec<CString>,
}

#[derive(Default)]
struct Raw {
    paths: Vec<(String, PathBuf)>,
    numbers: Vec<(String, u64)>,
    cgroups: Vec<PathBuf>,
    kvm: Option<bool>,
    label: Option<String>,
}

pub fn parse(args: impl Iterator<Item = OsString>) -> Result<Args> {
    let mut args = args;
    let mut raw = Raw::default();
    while let Some(option) = args.next() {
        if option == "--" {
            return raw.finish(args.collect());
        }
        let name = option
            .into_string()
            .map_err(|_| usage("an option is not UTF-8"))?;
        let value = args
            .next()
            .ok_or_else(|| usage(&format!("{name} needs a value")))?;
        raw.take(&name, value)?;
    }
    Err(usage("there is no -- and no command"))
}

impl Raw {
    fn take(&mut self, name: &str, value: OsString) -> Result<()> {
        match name {
            "--bundle" | "--base" | "--live" | "--record" | "--log" | "--netns" => {
                self.paths.push((name.to_owned(), PathBuf::from(value)));
            }
            "--cgroup" => self.cgroups.push(PathBuf::from(value)),
            "--slot-id" | "--worker-uid" | "--worker-gid" | "--memory-bytes" => {
                let number = value
                    .to_str()
                    .and_then(|v| v.parse().ok())
                    .ok_or_else(|| usage(&format!("{name} must be a number")))?;
                self.numbers.push((name.to_owned(), number));
            }
            "--accelerator" => {
                self.kvm = match value.to_str() {
                    Some("kvm") => Some(true),
                    Some("tcg") => Some(false),
                    _ => return Err(usage("--accelerator must be kvm or tcg")),
                }
            }
            "--label" => {
                let label = value
                    .into_string()
                    .map_err(|_| usage("--label is not UTF-8"))?;
                if label.len() > 80 || !label.bytes().all(|b| b.is_ascii_graphic()) {
                    return Err(usage("--label must be at most 80 printable characters"));
                }
                self.label = Some(label);
            }
            _ => return Err(usage(&format!("unknown option {name}"))),
        }
        Ok(())
    }

    fn finish(self, command: Vec<OsString>) -> Result<Args> {
        let live = self.path("--live")?;
        if !live.components().all(|c| matches!(c, Component::Normal(_))) {
            return Err(usage("--live must be relative and without .."));
        }
        if self.cgroups.is_empty() || self.cgroups.len() > CGROUPS_MAX {
            return Err(usage("--cgroup must be given 1 to 8 times"));
        }
        for path in &self.cgroups {
            absolute("--cgroup", path)?;
        }
        if command.is_empty() || command.len() > ARGUMENTS_MAX {
            return Err(usage("the VMM needs 1 to 256 arguments"));
        }
        let mut words = Vec::with_capacity(command.len());
        for word in command {
            words.push(CString::new(word.into_vec()).map_err(|_| usage("an argument has a NUL"))?);
        }
        Ok(Args {
            bundle: self.absolute_path("--bundle")?,
            base: self.absolute_path("--base")?,
            live,
            record: self.absolute_path("--record")?,
            log: self.absolute_path("--log")?,
            netns: self.absolute_path("--netns")?,
            slot_id: self.id("--slot-id")?,
            worker_uid: self.id("--worker-uid")?,
            worker_gid: self.id("--worker-gid")?,
            memory_bytes: self.number("--memory-bytes")?,
            kvm: self.kvm.ok_or_else(|| usage("--accelerator is missing"))?,
            label: self
                .label
                .clone()
                .ok_or_else(|| usage("--label is missing"))?,
            cgroups: self.cgroups,
            command: words,
        })
    }

    fn path(&self, name: &str) -> Result<PathBuf> {
        let mut found = self.paths.iter().filter(|(n, _)| n == name);
        match (found.next(), found.next()) {
            (Some((_, path)), None) => Ok(path.clone()),
            _ => Err(usage(&format!("{name} must be given once"))),
        }
    }

    fn absolute_path(&self, name: &str) -> Result<PathBuf> {
        let path = self.path(name)?;
        absolute(name, &path)?;
        Ok(path)
    }

    fn number(&self, name: &str) -> Result<u64> {
        let mut found = self.numbers.iter().filter(|(n, _)| n == name);
        match (found.next(), found.next()) {
            (Some((_, number)), None) => Ok(*number),
            _ => Err(usage(&format!("{name} must be given once"))),
        }
    }

    /// Never 0: neither the VMM nor its files may be root's.
    fn id(&self, name: &str) -> Result<u32> {
        u32::try_from(self.number(name)?)
            .ok()
            .filter(|id| *id != 0 && *id != u32::MAX)
            .ok_or_else(|| usage(&format!("{name} must be an id other than 0")))
    }
}

fn absolute(name: &str, path: &Path) -> Result<()> {
    let plain = path
        .components()
        .all(|c| matches!(c, Component::RootDir | Component::Normal(_)));
    if path.is_absolute() && plain {
        return Ok(());
    }
    Err(usage(&format!("{name} must be absolute and without ..")))
}

fn usage(detail: &str) -> Failure {
    Failure::new(Kind::Usage, detail.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = "--bundle /b --base /d --live v/live --record /r --log /l --netns /n \
         --cgroup /c1 --cgroup /c2 --slot-id 61000 --worker-uid 900 --worker-gid 901 \
         --memory-bytes 1024 --accelerator tcg --label ses_a -- -M microvm";

    fn parse_words(words: &str) -> Result<Args> {
        parse(words.split_whitespace().map(OsString::from))
    }

    #[test]
    fn a_whole_line_is_taken() {
        let args = parse_words(GOOD).unwrap();
        assert_eq!(args.cgroups.len(), 2);
        assert_eq!(args.slot_id, 61000);
        assert!(!args.kvm);
        let kvm = GOOD.replace("--accelerator tcg", "--accelerator kvm");
        assert!(parse_words(&kvm).unwrap().kvm);
        assert_eq!(
            args.command,
            [c"-M".into(), c"microvm".into()] as [CString; 2]
        );
    }

    #[test]
    fn each_damage_is_refused() {
        for (from, to) in [
            ("--bundle /b", ""),
            ("--bundle /b", "--bundle b"),
            ("--bundle /b", "--bundle /b --bundle /c"),
            ("--live v/live", "--live /v/live"),
            ("--live v/live", "--live v/../../live"),
            ("--record /r", "--record /r/../x"),
            ("--cgroup /c1 --cgroup /c2", ""),
            ("--slot-id 61000", "--slot-id 0"),
            ("--slot-id 61000", "--slot-id 4294967295"),
            ("--slot-id 61000", "--slot-id x"),
            ("--worker-uid 900", "--worker-uid 0"),
            ("--accelerator tcg", ""),
            ("--accelerator tcg", "--accelerator auto"),
            ("--label ses_a", "--label"),
            ("--label ses_a", ""),
            ("-- -M microvm", ""),
            ("-- -M microvm", "--"),
            ("--netns /n", "--netns /n --nonsense 1"),
        ] {
            let line = GOOD.replace(from, to);
            assert!(parse_words(&line).is_err(), "{line}");
        }
    }
}
