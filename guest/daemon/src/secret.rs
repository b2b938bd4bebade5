//! The token, in a page of its own: not in a core dump, and zero in every child that is forked, so
//! that neither a process before its exec nor a file worker carries it.

use crate::scanner::TOKEN;
use std::io::{Error, Result};

const PAGE: usize = 4096;

pub struct TokenPage(*mut [u8; TOKEN]);

impl TokenPage {
    /// All zero: what a machine has until the first handshake replaces it.
    pub fn new() -> Result<TokenPage> {
        // JUSTIFICATION: only a mapping of its own can be wiped on fork.
        // SAFETY: a fresh private page, used by nobody else; the length is a page.
        unsafe {
            let page = libc::mmap(
                std::ptr::null_mut(),
                PAGE,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_PRIVATE | libc::MAP_ANONYMOUS,
                -1,
                0,
            );
            if page == libc::MAP_FAILED {
                return Err(Error::last_os_error());
            }
            crate::sys::check(libc::madvise(page, PAGE, libc::MADV_WIPEONFORK))?;
            crate::sys::check(libc::madvise(page, PAGE, libc::MADV_DONTDUMP))?;
            Ok(TokenPage(page.cast()))
        }
    }

    pub fn get(&self) -> &[u8; TOKEN] {
        // JUSTIFICATION: see new.
        // SAFETY: the page lives as long as the process and is changed through &mut self only.
        unsafe { &*self.0 }
    }

    pub fn set(&mut self, token: &[u8; TOKEN]) {
        // JUSTIFICATION: see new.
        // SAFETY: as get; &mut self excludes readers.
        unsafe { *self.0 = *token }
    }
}
