//! What the passing of time does, and the freezing of the workload around a stop.

use crate::daemon::Daemon;
use crate::stream::Work;
use crate::sys;

/// Running time without a word from the host after which a frozen workload goes on.
const THAW_NANOS: i64 = 2_000_000_000;
/// A workload that does not stand still by then makes the snapshot "not quiesced".
const FREEZE_NANOS_MAX: i64 = 5_000_000;

impl Daemon {
    pub fn timeout_millis(&self) -> i32 {
        let processes = self.processes.values().flat_map(|p| [p.deadline, p.grace]).flatten();
        let streams = self.streams.values().filter_map(|stream| match stream.work {
            Work::Wait { deadline, .. } | Work::Child { deadline, .. } => Some(deadline),
            _ => None,
        });
        let abandoned = self.abandoned.iter().map(|&(_, deadline)| deadline);
        let others = [self.frozen_until, self.disk_frozen_until, self.hooks_deadline()];
        let frozen = others.into_iter().flatten();
        match processes.chain(streams).chain(abandoned).chain(frozen).min() {
            None => -1,
            Some(next) => {
                let left = next.saturating_sub(sys::monotonic()).max(0);
                // Rounded up, or the last millisecond would spin.
                i32::try_from(left / 1_000_000 + 1).unwrap_or(i32::MAX)
            }
        }
    }

    pub fn timers(&mut self) {
        let now = sys::monotonic();
        for process in self.processes.values_mut() {
            if process.deadline.is_some_and(|end| now >= end) {
                process.time_out(&self.groups);
            }
        }
        self.abandoned.retain(|&(pid, end)| {
            if now >= end {
                // It may have ended; its number is not used again before it is reaped here.
                let _ = sys::kill(pid, libc::SIGKILL);
            }
            now < end
        });
        self.late_hooks(now);
        if self.frozen_until.is_some_and(|end| now >= end) && !self.hooks_run() {
            self.thaw();
        }
        if self.disk_frozen_until.is_some_and(|end| now >= end) {
            self.disk_frozen_until = None;
            self.thaw_disk();
        }
        self.late_children(now);
    }

    fn late_children(&mut self, now: i64) {
        let late: Vec<u32> = self
            .streams
            .iter()
            .filter(|(_, s)| matches!(s.work, Work::Child { deadline, .. } if now >= deadline))
            .map(|(&id, _)| id)
            .collect();
        for id in late {
            self.drop_stream(id);
            self.fail(id, "UNAVAILABLE", "the guest's file system did not answer in time");
        }
    }

    /// The host spoke: a frozen workload waits for it again.
    pub fn extend_freeze(&mut self) {
        if self.frozen_until.is_some() {
            self.frozen_until = Some(sys::monotonic() + THAW_NANOS);
        }
    }

    pub fn freeze(&mut self) -> bool {
        self.frozen_until = Some(sys::monotonic() + THAW_NANOS);
        if self.groups.freeze(true).is_err() {
            return false;
        }
        let end = sys::monotonic() + FREEZE_NANOS_MAX;
        while !self.groups.frozen() {
            if sys::monotonic() >= end {
                return false;
            }
            std::thread::sleep(std::time::Duration::from_micros(100));
        }
        true
    }

    pub fn thaw(&mut self) {
        if self.frozen_until.take().is_some()
            && let Err(e) = self.groups.freeze(false)
        {
            eprintln!("space-daemon: the workload cannot be thawed: {e}");
        }
    }
}
