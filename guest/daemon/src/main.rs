//! space-daemon: PID 1 of a sandbox and the far end of its private channel.
//!
//! Without arguments it boots the machine (boot). `--socket PATH --cgroup DIR` serves the same
//! requests on a unix socket of an ordinary machine, for tests of the channel without a VM.

mod boot;
mod cgroup;
mod clock;
mod daemon;
mod disk;
mod file_child;
mod file_request;
mod frame;
mod hooks;
mod net;
mod output;
mod passwd;
mod plain;
mod port;
mod process;
mod protect;
mod pump;
#[cfg(test)]
mod random;
mod requests;
mod scanner;
mod secret;
mod spawn;
mod stream;
mod sys;
mod timers;

/// Generated from guest/protocol.
mod pb {
    #![allow(clippy::all)]
    include!(concat!(env!("OUT_DIR"), "/space.guest.v1.rs"));
}

fn main() -> std::process::ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if std::process::id() == 1 && !arguments.iter().any(|a| a == "--socket") {
        boot::run();
    }
    plain::run(&arguments)
}
