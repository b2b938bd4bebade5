//! The daemon's side of a file request: relays between a stream and the child that does the work.
//! What the child says is bounded and checked like everything else: the user could have killed it.

use crate::file_child::{self, FileChild};
use crate::frame::{DATA_MAX, REPLY_MAX, WINDOW};
use crate::pb::request;
use crate::spawn::{self, Roots};
use crate::sys;
use std::collections::VecDeque;
use std::io::{ErrorKind, Result};
use std::os::fd::{AsRawFd, OwnedFd};

/// A child that nobody waits for any more ends by itself, or is ended after this.
pub const ABANDONED_NANOS: i64 = 5_000_000_000;

pub struct FileRequest {
    pub pid: i32,
    pub from_child: OwnedFd,
    pub from_watch: u64,
    /// None once everything was handed over, or for a request without data.
    pub to_child: Option<OwnedFd>,
    pub to_watch: u64,
    to_write: VecDeque<u8>,
    /// Data of the host that is in `to_write`, without what frames it.
    unwritten: usize,
    committed: bool,
    received: Vec<u8>,
    pub child_closed: bool,
}

pub enum FromChild {
    Reply(Vec<u8>),
    LastReply(Vec<u8>),
    Data(Vec<u8>),
    End,
    Failure(Vec<u8>),
    /// It ended, or talks nonsense, before it was done.
    Broken,
}

impl FileRequest {
    pub fn start(
        body: &request::Body,
        user: &str,
        group: &str,
        roots: Roots,
    ) -> Result<FileRequest> {
        let (child_input, to_child) = sys::pipe(0)?;
        let (from_child, child_output) = sys::pipe(0)?;
        sys::set_nonblocking(to_child.as_raw_fd(), true)?;
        sys::set_nonblocking(from_child.as_raw_fd(), true)?;
        let takes_data = matches!(body, request::Body::WriteFile(_));
        let pid = spawn::fork_into(group, roots, || {
            match spawn::detach(roots)
                .and_then(|()| spawn::talk_on(child_input.as_raw_fd(), child_output.as_raw_fd()))
            {
                Ok(()) => FileChild.run(body, user, roots),
                Err(_) => 1,
            }
        })?;
        Ok(FileRequest {
            pid,
            from_child,
            from_watch: 0,
            to_child: takes_data.then_some(to_child),
            to_watch: 0,
            to_write: VecDeque::new(),
            unwritten: 0,
            committed: false,
            received: Vec::new(),
            child_closed: false,
        })
    }

    /// Data of the host for the child; false when it is more than the window or after the end.
    pub fn push(&mut self, data: &[u8], end: bool) -> bool {
        if self.committed || self.unwritten + data.len() > WINDOW {
            return false;
        }
        if !data.is_empty() {
            self.to_write.extend((data.len() as u32).to_le_bytes());
            self.to_write.extend(data);
            self.unwritten += data.len();
        }
        if end {
            self.committed = true;
            self.to_write.extend(0u32.to_le_bytes());
        }
        true
    }

    /// Writes what the child takes; gives the credit that the host gets for it.
    pub fn flush(&mut self) -> usize {
        let Some(fd) = &self.to_child else {
            self.to_write.clear();
            return std::mem::take(&mut self.unwritten);
        };
        while !self.to_write.is_empty() {
            let (front, _) = self.to_write.as_slices();
            match sys::write(fd.as_raw_fd(), front) {
                Ok(count) => drop(self.to_write.drain(..count)),
                Err(e) if e.kind() == ErrorKind::Interrupted => {}
                Err(e) if e.kind() == ErrorKind::WouldBlock => break,
                Err(_) => {
                    // It failed and says why, or is dead: what follows is of no use.
                    self.to_child = None;
                    self.to_write.clear();
                    break;
                }
            }
        }
        // Lengths in between are a small part; the credit never exceeds what the host used.
        let left = self.unwritten.min(self.to_write.len());
        std::mem::replace(&mut self.unwritten, left) - left
    }

    pub fn wants_to_write(&self) -> bool {
        self.to_child.is_some() && !self.to_write.is_empty()
    }

    /// Length of the next message's payload when it is here whole.
    pub fn ready(&self) -> Option<usize> {
        let header = self.received.get(..5)?;
        let length = u32::from_le_bytes([header[1], header[2], header[3], header[4]]) as usize;
        if length > REPLY_MAX {
            return Some(0);
        }
        (self.received.len() >= 5 + length).then_some(length)
    }

    /// True when there is room for more of what the child says.
    pub fn wants_to_read(&self) -> bool {
        !self.child_closed && self.ready().is_none()
    }

    pub fn read(&mut self) {
        let mut buffer = [0; DATA_MAX];
        while self.wants_to_read() {
            match sys::read(self.from_child.as_raw_fd(), &mut buffer) {
                Ok(0) => self.child_closed = true,
                Ok(count) => self.received.extend_from_slice(&buffer[..count]),
                Err(e) if e.kind() == ErrorKind::Interrupted => {}
                Err(e) if e.kind() == ErrorKind::WouldBlock => return,
                Err(_) => self.child_closed = true,
            }
        }
    }

    pub fn take(&mut self) -> Option<FromChild> {
        let Some(length) = self.ready() else {
            return self.child_closed.then_some(FromChild::Broken);
        };
        let kind = self.received[0];
        if self.received.len() < 5 + length {
            return Some(FromChild::Broken);
        }
        let payload = self.received[5..5 + length].to_vec();
        self.received.drain(..5 + length);
        Some(match kind {
            file_child::REPLY => FromChild::Reply(payload),
            file_child::LAST_REPLY => FromChild::LastReply(payload),
            file_child::DATA if length <= DATA_MAX => FromChild::Data(payload),
            file_child::END => FromChild::End,
            file_child::FAILURE => FromChild::Failure(payload),
            _ => FromChild::Broken,
        })
    }
}
