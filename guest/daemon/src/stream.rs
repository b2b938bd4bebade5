//! What is open between host and daemon: a request that is not answered yet.

use crate::file_request::FileRequest;
use crate::frame::WINDOW;
use std::collections::VecDeque;

pub struct Stream {
    /// Bytes of replies and data that the host still takes.
    pub window: usize,
    pub work: Work,
}

pub enum Work {
    /// Answered when the hooks of a fork have run.
    Bind,
    /// The process's exec is under way.
    Start {
        id: String,
    },
    Wait {
        id: String,
        deadline: i64,
        release: bool,
    },
    Output(Reading),
    Stdin {
        id: String,
        offset: u64,
        data: Vec<u8>,
        eof: bool,
    },
    Replies(VecDeque<Vec<u8>>),
    File(FileRequest),
    /// A child that does something which may take long (freezing or writing a file system).
    Child {
        pid: i32,
        deadline: i64,
    },
}

/// A reader of one output of a process.
pub struct Reading {
    pub id: String,
    pub index: usize,
    /// Offset of what is sent next, and of what the host has acknowledged.
    pub next: u64,
    pub acknowledged: u64,
    /// Where to end when the reader does not follow.
    pub until: Option<u64>,
    /// The first answer, which is no output and so acknowledges none.
    pub reply_bytes: u64,
}

impl Stream {
    pub fn new(work: Work) -> Stream {
        Stream { window: WINDOW, work }
    }

    /// False when the host gives back more than it took.
    pub fn credit(&mut self, bytes: usize) -> bool {
        self.window = self.window.saturating_add(bytes);
        self.window <= WINDOW
    }
}
