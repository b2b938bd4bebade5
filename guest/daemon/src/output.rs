//! One output of a process, by absolute offset. What the host has not acknowledged is kept; when
//! that fills the buffer the pipe is read no further and the process waits. What is acknowledged is
//! kept as long as there is room, for a reader that comes again from before.

use std::collections::VecDeque;
use std::os::fd::OwnedFd;

pub const KEPT_MAX: usize = 1 << 20;

#[derive(Default)]
pub struct Output {
    pub fd: Option<OwnedFd>,
    /// Key in epoll, 0 while the pipe is not watched.
    pub watch: u64,
    kept: VecDeque<u8>,
    base: u64,
    acknowledged: u64,
    /// Nothing will be added: all writers are gone, or the grace time after the main process's end.
    pub complete: bool,
}

impl Output {
    pub fn of(pipe: OwnedFd) -> Output {
        Output { fd: Some(pipe), ..Default::default() }
    }

    pub fn end(&self) -> u64 {
        self.base + self.kept.len() as u64
    }

    pub fn kept(&self) -> usize {
        self.kept.len()
    }

    /// How much may be read from the pipe now.
    pub fn room(&self, limit: usize) -> usize {
        limit.saturating_sub((self.end() - self.acknowledged) as usize)
    }

    /// Adds what was read; the caller respects `room`. Drops what is acknowledged to make way.
    pub fn add(&mut self, bytes: &[u8], limit: usize) {
        self.kept.extend(bytes);
        let excess = self.kept.len().saturating_sub(limit);
        self.drop_acknowledged(excess);
    }

    fn drop_acknowledged(&mut self, count: usize) {
        let count = count.min((self.acknowledged - self.base) as usize);
        self.kept.drain(..count);
        self.base += count as u64;
    }

    /// The host has stored everything before this offset.
    pub fn acknowledge(&mut self, offset: u64) {
        self.acknowledged = offset.clamp(self.acknowledged, self.end());
    }

    /// A reader that starts later than what was acknowledged has the rest already.
    pub fn start_reading(&mut self, from: u64) -> u64 {
        let start = from.clamp(self.base, self.end());
        self.acknowledge(start);
        start
    }

    /// Forgets what is acknowledged, for memory's sake.
    pub fn shrink(&mut self) {
        self.drop_acknowledged(usize::MAX);
        self.kept.shrink_to_fit();
    }

    pub fn copy(&self, from: u64, max: usize, into: &mut Vec<u8>) {
        let start = (from.max(self.base) - self.base) as usize;
        let (a, b) = self.kept.as_slices();
        let end = (start + max).min(self.kept.len());
        if start < a.len() {
            into.extend_from_slice(&a[start..end.min(a.len())]);
        }
        if end > a.len() {
            into.extend_from_slice(&b[start.saturating_sub(a.len())..end - a.len()]);
        }
    }
}

#[cfg(test)]
#[path = "output_test.rs"]
mod tests;
