//! The machine's one network interface. What it may reach is decided outside of it.

use crate::sys;
use std::io::Result;
use std::net::Ipv4Addr;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

pub const ADDRESS: Ipv4Addr = Ipv4Addr::new(10, 200, 0, 2);
pub const MASK: Ipv4Addr = Ipv4Addr::new(255, 255, 255, 252);
pub const GATEWAY: Ipv4Addr = Ipv4Addr::new(10, 200, 0, 1);

const NAME: usize = 16;

/// struct ifreq with an address.
#[repr(C)]
struct AddressRequest {
    name: [u8; NAME],
    address: libc::sockaddr_in,
    rest: [u8; 8],
}

/// struct ifreq with flags.
#[repr(C)]
struct FlagsRequest {
    name: [u8; NAME],
    flags: libc::c_short,
    rest: [u8; 22],
}

/// struct rtentry of the kernel on 64 bits.
#[repr(C)]
struct Route {
    pad1: libc::c_ulong,
    destination: libc::sockaddr_in,
    gateway: libc::sockaddr_in,
    mask: libc::sockaddr_in,
    flags: libc::c_ushort,
    pad2: libc::c_short,
    pad3: libc::c_ulong,
    pad4: usize,
    metric: libc::c_short,
    device: usize,
    mtu: libc::c_ulong,
    window: libc::c_ulong,
    irtt: libc::c_ushort,
}

const _: () = assert!(size_of::<AddressRequest>() == 40);
const _: () = assert!(size_of::<FlagsRequest>() == 40);
const _: () = assert!(size_of::<Route>() == 120);

fn name(device: &str) -> [u8; NAME] {
    let mut name = [0; NAME];
    name[..device.len()].copy_from_slice(device.as_bytes());
    name
}

fn socket_address(address: Ipv4Addr) -> libc::sockaddr_in {
    libc::sockaddr_in {
        sin_family: libc::AF_INET as libc::sa_family_t,
        sin_port: 0,
        sin_addr: libc::in_addr { s_addr: u32::from(address).to_be() },
        sin_zero: [0; 8],
    }
}

fn control() -> Result<OwnedFd> {
    // JUSTIFICATION: std makes no socket that is not bound.
    // SAFETY: no memory is passed; the descriptor is new and owned by nobody else.
    unsafe {
        let fd = sys::check(libc::socket(libc::AF_INET, libc::SOCK_DGRAM | libc::SOCK_CLOEXEC, 0))?;
        Ok(OwnedFd::from_raw_fd(fd))
    }
}

pub fn up(device: &str) -> Result<()> {
    let control = control()?;
    let mut request = FlagsRequest { name: name(device), flags: 0, rest: [0; 22] };
    sys::ioctl(control.as_raw_fd(), libc::SIOCGIFFLAGS, &mut request)?;
    request.flags |= libc::IFF_UP as libc::c_short;
    sys::ioctl(control.as_raw_fd(), libc::SIOCSIFFLAGS, &mut request).map(drop)
}

pub fn configure(device: &str) -> Result<()> {
    let control = control()?;
    for (what, address) in [(libc::SIOCSIFADDR, ADDRESS), (libc::SIOCSIFNETMASK, MASK)] {
        let mut request =
            AddressRequest { name: name(device), address: socket_address(address), rest: [0; 8] };
        sys::ioctl(control.as_raw_fd(), what, &mut request)?;
    }
    up(device)?;
    let any = socket_address(Ipv4Addr::UNSPECIFIED);
    let mut route = Route {
        pad1: 0,
        destination: any,
        gateway: socket_address(GATEWAY),
        mask: any,
        flags: libc::RTF_UP | libc::RTF_GATEWAY,
        pad2: 0,
        pad3: 0,
        pad4: 0,
        metric: 0,
        device: 0,
        mtu: 0,
        window: 0,
        irtt: 0,
    };
    sys::ioctl(control.as_raw_fd(), libc::SIOCADDRT, &mut route).map(drop)
}
