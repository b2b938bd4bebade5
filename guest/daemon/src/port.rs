//! The daemon's end of the channel: a virtio-serial port, or in tests a unix socket that accepts one
//! host at a time. Bytes out are queued here; frames are put in whole.

use crate::sys::{self, Poll};
use std::io::{ErrorKind, Result};
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::os::unix::net::UnixListener;

/// What one write moves through a virtio-serial port at most.
const WRITE_MAX: usize = 32 << 10;
/// Streams add data while less than this waits.
pub const QUEUED_MAX: usize = 128 << 10;
/// Requests are read while less than this waits: their answers come on top.
pub const ANSWERS_MAX: usize = 1 << 20;

pub enum Source {
    /// Without a host a read gives 0; edge-triggered polling wakes when one comes.
    Device,
    Listener(UnixListener),
}

pub struct Port {
    source: Source,
    fd: Option<OwnedFd>,
    queue: Vec<u8>,
    written: usize,
}

pub enum Input {
    Bytes(usize),
    Nothing,
    HostGone,
}

impl Port {
    pub fn device(fd: OwnedFd, poll: &Poll, key: u64) -> Result<Port> {
        watch(poll, fd.as_raw_fd(), key)?;
        Ok(Port { source: Source::Device, fd: Some(fd), queue: Vec::new(), written: 0 })
    }

    pub fn listener(listener: UnixListener, poll: &Poll, key: u64) -> Result<Port> {
        listener.set_nonblocking(true)?;
        poll.add(listener.as_raw_fd(), libc::EPOLLIN, key)?;
        Ok(Port { source: Source::Listener(listener), fd: None, queue: Vec::new(), written: 0 })
    }

    /// A new connection takes the place of the old one.
    pub fn accept(&mut self, poll: &Poll, key: u64) -> Result<()> {
        let Source::Listener(listener) = &self.source else {
            return Ok(());
        };
        match listener.accept() {
            Ok((stream, _)) => {
                stream.set_nonblocking(true)?;
                let fd = OwnedFd::from(stream);
                watch(poll, fd.as_raw_fd(), key)?;
                self.fd = Some(fd);
                self.clear();
                Ok(())
            }
            Err(e) if e.kind() == ErrorKind::WouldBlock => Ok(()),
            Err(e) => Err(e),
        }
    }

    pub fn read(&mut self, buffer: &mut [u8]) -> Input {
        let Some(fd) = &self.fd else {
            return Input::Nothing;
        };
        match sys::read(fd.as_raw_fd(), buffer) {
            Ok(0) => self.host_gone(),
            Ok(count) => Input::Bytes(count),
            Err(e) if matches!(e.kind(), ErrorKind::WouldBlock) => Input::Nothing,
            Err(e) if e.kind() == ErrorKind::Interrupted => Input::Bytes(0),
            Err(_) => self.host_gone(),
        }
    }

    fn host_gone(&mut self) -> Input {
        if let Source::Listener(_) = self.source {
            self.fd = None;
        }
        Input::HostGone
    }

    pub fn clear(&mut self) {
        self.queue.clear();
        self.queue.shrink_to(QUEUED_MAX);
        self.written = 0;
    }

    pub fn queue(&mut self) -> &mut Vec<u8> {
        &mut self.queue
    }

    pub fn waiting(&self) -> usize {
        self.queue.len() - self.written
    }

    /// Writes what goes now; the poll wakes when more does.
    pub fn flush(&mut self) {
        let Some(fd) = &self.fd else {
            return self.clear();
        };
        while self.written < self.queue.len() {
            let end = self.queue.len().min(self.written + WRITE_MAX);
            match sys::write(fd.as_raw_fd(), &self.queue[self.written..end]) {
                // Nothing was taken: as if it would block.
                Ok(0) => break,
                Ok(count) => self.written += count,
                Err(e) if e.kind() == ErrorKind::Interrupted => {}
                // Also when no host is there: the next handshake begins anew.
                Err(_) => break,
            }
        }
        if self.written == self.queue.len() {
            self.queue.clear();
            self.written = 0;
        } else if self.written >= QUEUED_MAX {
            self.queue.drain(..self.written);
            self.written = 0;
        }
    }
}

fn watch(poll: &Poll, fd: RawFd, key: u64) -> Result<()> {
    poll.add(fd, libc::EPOLLIN | libc::EPOLLOUT | libc::EPOLLET, key)
}
