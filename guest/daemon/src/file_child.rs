//! What a file request does, in a forked child that has become the user for good. A child of its
//! own rather than setfsuid in the daemon: a file system of the workload's own (FUSE, a full or
//! broken disk) can then hang or crash the child alone, each request checks exactly the rights that
//! the user's own processes have, and the daemon never has a file of the workload open.

use crate::frame::{DATA_MAX, REPLY_MAX};
use crate::passwd::{self, Names};
use crate::pb::{self, reply, request};
use crate::spawn::{self, Roots};
use crate::sys;
use prost::Message;
use std::ffi::OsStr;
use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{Error, ErrorKind, Read, Result, Seek, SeekFrom, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

/// What the child tells the daemon: kind u8, length u32 little endian, payload.
pub const REPLY: u8 = 1;
pub const LAST_REPLY: u8 = 2;
pub const DATA: u8 = 3;
pub const END: u8 = 4;
pub const FAILURE: u8 = 5;

const BATCH_BYTES: usize = DATA_MAX;
const PATH_MAX: usize = 4096;
const COMMIT: u32 = 0;

/// A refusal with its code of the error catalogue.
pub struct Refused(pub &'static str, pub String);

impl From<Error> for Refused {
    fn from(error: Error) -> Refused {
        let code = match error.raw_os_error() {
            Some(libc::ENOENT) => "FILE_NOT_FOUND",
            Some(libc::ENOTDIR | libc::EISDIR | libc::ENOTEMPTY | libc::ELOOP | libc::EBUSY) => {
                "FILE_CONFLICT"
            }
            Some(libc::EEXIST) => "ALREADY_EXISTS",
            Some(libc::EACCES | libc::EPERM | libc::EROFS) => "FILE_FORBIDDEN",
            Some(libc::ENOSPC | libc::EDQUOT) => "GUEST_DISK_FULL",
            Some(libc::EINVAL | libc::ENAMETOOLONG | libc::EFBIG) => "INVALID_ARGUMENT",
            _ => "UNAVAILABLE",
        };
        Refused(code, error.to_string())
    }
}

type Outcome = std::result::Result<(), Refused>;

/// Talks on its standard input and output; nothing else is open in it.
pub struct FileChild;

impl FileChild {
    /// The child's whole life, once it has left the daemon's group and descriptors.
    pub fn run(self, request: &request::Body, user: &str, roots: Roots) -> i32 {
        let outcome = self.prepare(user, roots).and_then(|()| self.serve(request));
        let told = match outcome {
            Ok(()) => self.send(END, &[]),
            Err(Refused(code, detail)) => {
                let failure = pb::Failure { code: code.into(), detail };
                self.send(FAILURE, &failure.encode_to_vec())
            }
        };
        i32::from(told.is_err())
    }

    fn prepare(&self, user: &str, roots: Roots) -> Outcome {
        // Writing to a daemon that gave up must end in clean-up, not in a signal.
        // JUSTIFICATION: std has no signals.
        // SAFETY: sets a disposition; no handler is involved.
        unsafe { libc::signal(libc::SIGPIPE, libc::SIG_IGN) };
        let user = passwd::resolve(user.as_bytes())
            .ok_or_else(|| Refused("INVALID_ARGUMENT", "the sandbox has no such user".into()))?;
        spawn::become_user(&user, roots.machine)?;
        // Only a relative path needs the home; without one it then names nothing there.
        spawn::change_directory(&user.home).or_else(|_| spawn::change_directory(b"/"))?;
        Ok(())
    }

    fn serve(&self, request: &request::Body) -> Outcome {
        match request {
            request::Body::StatFile(stat) => self.stat(path(&stat.file)?),
            request::Body::ListDirectory(list) => self.list(path(&list.file)?),
            request::Body::ReadFile(read) => self.read(path(&read.file)?, read.offset, read.length),
            request::Body::WriteFile(write) => self.write(path(&write.file)?, write),
            request::Body::MakeDirectory(make) => self.make(path(&make.file)?, make),
            request::Body::RemoveFile(remove) => self.remove(path(&remove.file)?, remove.recursive),
            _ => Err(Refused("NOT_AVAILABLE", "no request for files".into())),
        }
    }

    fn send(&self, kind: u8, payload: &[u8]) -> Result<()> {
        let mut message = Vec::with_capacity(5 + payload.len());
        message.push(kind);
        message.extend_from_slice(&(payload.len() as u32).to_le_bytes());
        message.extend_from_slice(payload);
        let mut left = &message[..];
        while !left.is_empty() {
            let count = sys::write(libc::STDOUT_FILENO, left)?;
            left = &left[count..];
        }
        Ok(())
    }

    fn reply(&self, kind: u8, body: reply::Body) -> Outcome {
        Ok(self.send(kind, &pb::Reply { body: Some(body) }.encode_to_vec())?)
    }

    fn stat(&self, path: &Path) -> Outcome {
        let info = describe(path, &fs::symlink_metadata(path)?, &Names::read());
        self.reply(REPLY, reply::Body::File(info))
    }

    fn list(&self, path: &Path) -> Outcome {
        let names = Names::read();
        let mut batch = pb::FileList::default();
        let mut size = 0;
        for entry in fs::read_dir(path)? {
            let entry = entry?;
            // What was removed since it was listed is no error.
            let Ok(metadata) = entry.metadata() else {
                continue;
            };
            let info = describe(&entry.path(), &metadata, &names);
            size += info.encoded_len() + 8;
            batch.files.push(info);
            if size >= BATCH_BYTES {
                size = 0;
                self.reply(REPLY, reply::Body::Files(std::mem::take(&mut batch)))?;
            }
        }
        if !batch.files.is_empty() {
            self.reply(REPLY, reply::Body::Files(batch))?;
        }
        Ok(())
    }

    fn read(&self, path: &Path, offset: i64, length: i64) -> Outcome {
        // Without O_NONBLOCK a FIFO would hold this child for ever.
        let mut file = OpenOptions::new().read(true).custom_flags(libc::O_NONBLOCK).open(path)?;
        let metadata = file.metadata()?;
        if !metadata.is_file() {
            return Err(Refused("FILE_CONFLICT", "it is no regular file".into()));
        }
        let start = u64::try_from(offset)
            .map_err(|_| Refused("INVALID_ARGUMENT", "the offset is negative".into()))?;
        if start > metadata.len() {
            let detail = format!("the file has {} bytes", metadata.len());
            return Err(Refused("RANGE_NOT_SATISFIABLE", detail));
        }
        file.seek(SeekFrom::Start(start))?;
        self.reply(REPLY, reply::Body::File(describe(path, &metadata, &Names::read())))?;
        let mut left = u64::try_from(length).unwrap_or(u64::MAX);
        let mut buffer = vec![0; DATA_MAX];
        while left > 0 {
            let wanted = buffer.len().min(usize::try_from(left).unwrap_or(usize::MAX));
            let count = match file.read(&mut buffer[..wanted]) {
                Err(e) if e.kind() == ErrorKind::Interrupted => continue,
                other => other?,
            };
            if count == 0 {
                break;
            }
            self.send(DATA, &buffer[..count])?;
            left -= count as u64;
        }
        Ok(())
    }

    fn write(&self, path: &Path, request: &pb::WriteFile) -> Outcome {
        let parent = parent(path);
        if request.make_parents && !parent.as_os_str().is_empty() {
            fs::create_dir_all(parent)?;
        }
        let (path, old_mode) = target(path)?;
        let mode = if request.mode != 0 { request.mode & 0o7777 } else { old_mode };
        let temporary = temporary_name(&path)?;
        let file = OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(0o600)
            .custom_flags(libc::O_NOFOLLOW)
            .open(&temporary)?;
        let written = self.fill(file, mode).and_then(|()| Ok(fs::rename(&temporary, &path)?));
        if let Err(refused) = written {
            // The first failure is what counts; a name that is left is only untidy.
            let _ = fs::remove_file(&temporary);
            return Err(refused);
        }
        let info = describe(&path, &fs::symlink_metadata(&path)?, &Names::read());
        self.reply(LAST_REPLY, reply::Body::File(info))
    }

    /// Takes pieces (length u32, bytes) until the empty one that commits.
    fn fill(&self, mut file: File, mode: u32) -> Outcome {
        let mut buffer = Vec::new();
        loop {
            let mut length = [0; 4];
            self.receive(&mut length)?;
            let length = u32::from_le_bytes(length);
            if length == COMMIT {
                return Ok(file.set_permissions(fs::Permissions::from_mode(mode))?);
            }
            buffer.resize((length as usize).min(DATA_MAX), 0);
            self.receive(&mut buffer)?;
            file.write_all(&buffer)?;
        }
    }

    fn receive(&self, mut buffer: &mut [u8]) -> Result<()> {
        while !buffer.is_empty() {
            match sys::read(libc::STDIN_FILENO, buffer) {
                Ok(0) => return Err(Error::from(ErrorKind::UnexpectedEof)),
                Ok(count) => buffer = &mut buffer[count..],
                Err(e) if e.kind() == ErrorKind::Interrupted => {}
                Err(e) => return Err(e),
            }
        }
        Ok(())
    }

    fn make(&self, path: &Path, request: &pb::MakeDirectory) -> Outcome {
        let mode = if request.mode != 0 { request.mode & 0o7777 } else { 0o755 };
        if request.parents {
            fs::create_dir_all(parent(path))?;
        }
        match fs::DirBuilder::new().mode(mode).create(path) {
            Ok(()) if request.mode != 0 => {
                fs::set_permissions(path, fs::Permissions::from_mode(mode))?;
            }
            Ok(()) => {}
            Err(e) if e.kind() == ErrorKind::AlreadyExists && request.parents => {
                if !fs::metadata(path)?.is_dir() {
                    return Err(Refused("FILE_CONFLICT", "it exists and is no directory".into()));
                }
            }
            Err(e) => return Err(e.into()),
        }
        self.stat(path)
    }

    fn remove(&self, path: &Path, recursive: bool) -> Outcome {
        let metadata = fs::symlink_metadata(path)?;
        match (metadata.is_dir(), recursive) {
            (true, true) => fs::remove_dir_all(path)?,
            (true, false) => fs::remove_dir(path)?,
            (false, _) => fs::remove_file(path)?,
        }
        self.reply(REPLY, reply::Body::Done(pb::Done {}))
    }
}

fn path(file: &Option<pb::FilePath>) -> std::result::Result<&Path, Refused> {
    let bytes = file.as_ref().map_or(&[][..], |file| &file.path);
    if bytes.is_empty() || bytes.len() > PATH_MAX || bytes.contains(&0) {
        let detail = format!("a path has 1 to {PATH_MAX} bytes and no NUL");
        return Err(Refused("INVALID_ARGUMENT", detail));
    }
    Ok(Path::new(OsStr::from_bytes(bytes)))
}

fn parent(path: &Path) -> &Path {
    path.parent().unwrap_or(Path::new("/"))
}

/// The file behind symbolic links, and the mode that its replacement gets by default.
fn target(path: &Path) -> std::result::Result<(PathBuf, u32), Refused> {
    let metadata = match fs::symlink_metadata(path) {
        Err(e) if e.kind() == ErrorKind::NotFound => {
            if path.as_os_str().as_bytes().ends_with(b"/") {
                return Err(Refused("FILE_CONFLICT", "the path names a directory".into()));
            }
            return Ok((path.to_path_buf(), 0o644));
        }
        other => other?,
    };
    let real = if metadata.is_symlink() { fs::canonicalize(path)? } else { path.to_path_buf() };
    let metadata = fs::metadata(&real)?;
    if !metadata.is_file() {
        return Err(Refused("FILE_CONFLICT", "it exists and is no regular file".into()));
    }
    Ok((real, metadata.mode() & 0o7777))
}

/// In the same directory, so that the rename is atomic; not longer than a name may be.
fn temporary_name(path: &Path) -> Result<PathBuf> {
    let mut random = [0; 8];
    File::open("/dev/urandom")?.read_exact(&mut random)?;
    Ok(parent(path).join(format!(".space-{:016x}.part", u64::from_le_bytes(random))))
}

fn describe(path: &Path, metadata: &Metadata, names: &Names) -> pb::FileInfo {
    let kind = if metadata.is_file() {
        pb::FileKind::File
    } else if metadata.is_dir() {
        pb::FileKind::Directory
    } else if metadata.is_symlink() {
        pb::FileKind::Symlink
    } else {
        pb::FileKind::Other
    };
    let link = if metadata.is_symlink() { fs::read_link(path).ok() } else { None };
    let name = path.file_name().unwrap_or(path.as_os_str());
    pb::FileInfo {
        path: path.as_os_str().as_bytes().to_vec(),
        name: name.as_bytes().to_vec(),
        kind: kind as i32,
        size: metadata.len() as i64,
        mode: metadata.mode() & 0o7777,
        owner: names.user(metadata.uid()),
        group: names.group(metadata.gid()),
        uid: metadata.uid(),
        gid: metadata.gid(),
        modified_unix_nanos: metadata
            .mtime()
            .saturating_mul(1_000_000_000)
            .saturating_add(metadata.mtime_nsec()),
        symlink_target: link.map_or_else(Vec::new, |link| link.as_os_str().as_bytes().to_vec()),
    }
}

const _: () = assert!(BATCH_BYTES + 2 * PATH_MAX + 1024 < REPLY_MAX);
