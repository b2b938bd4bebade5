//! Frames: 12 bytes of header, little endian (length u32, stream u32, type u16, flags u16), then
//! the payload. The parser checks each length before it makes room and keeps one frame at most.

pub const HEADER: usize = 12;
pub const DATA_MAX: usize = 32 << 10;
pub const REPLY_MAX: usize = 64 << 10;
pub const REQUEST_MAX: usize = 192 << 10;
pub const FAILURE_MAX: usize = 4096;
/// Bytes that each direction of a stream may be ahead of its reader.
pub const WINDOW: usize = 256 << 10;
pub const FLAG_END: u16 = 1;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Request,
    Reply,
    Data,
    Credit,
    Failure,
    Cancel,
}

impl Kind {
    fn code(self) -> u16 {
        match self {
            Kind::Request => 1,
            Kind::Reply => 2,
            Kind::Data => 3,
            Kind::Credit => 4,
            Kind::Failure => 5,
            Kind::Cancel => 6,
        }
    }

    /// What a host may send, with the longest payload of each.
    fn from_host(code: u16) -> Option<(Kind, usize)> {
        match code {
            1 => Some((Kind::Request, REQUEST_MAX)),
            3 => Some((Kind::Data, DATA_MAX)),
            4 => Some((Kind::Credit, 4)),
            6 => Some((Kind::Cancel, 0)),
            _ => None,
        }
    }
}

#[derive(Debug, PartialEq, Eq)]
pub struct Frame {
    pub stream: u32,
    pub kind: Kind,
    pub end: bool,
    pub payload: Vec<u8>,
}

/// The host broke the protocol; nothing it sends is believed until its next handshake.
#[derive(Debug, PartialEq, Eq)]
pub struct Broken(pub &'static str);

pub fn encode(out: &mut Vec<u8>, stream: u32, kind: Kind, end: bool, payload: &[u8]) {
    debug_assert!(payload.len() <= REQUEST_MAX);
    out.reserve(HEADER + payload.len());
    out.extend_from_slice(&(payload.len() as u32).to_le_bytes());
    out.extend_from_slice(&stream.to_le_bytes());
    out.extend_from_slice(&kind.code().to_le_bytes());
    out.extend_from_slice(&(if end { FLAG_END } else { 0 }).to_le_bytes());
    out.extend_from_slice(payload);
}

#[derive(Default)]
pub struct Parser {
    header: [u8; HEADER],
    have: usize,
    body: Option<(Frame, usize)>,
}

impl Parser {
    pub fn reset(&mut self) {
        *self = Parser::default();
    }

    /// Takes bytes from the front of `input` and gives the next whole frame, if there is one.
    pub fn next(&mut self, input: &mut &[u8]) -> Result<Option<Frame>, Broken> {
        loop {
            if let Some((frame, length)) = &mut self.body {
                let take = (*length - frame.payload.len()).min(input.len());
                frame.payload.extend_from_slice(&input[..take]);
                *input = &input[take..];
                if frame.payload.len() < *length {
                    return Ok(None);
                }
                return Ok(self.body.take().map(|(frame, _)| frame));
            }
            let take = (HEADER - self.have).min(input.len());
            self.header[self.have..self.have + take].copy_from_slice(&input[..take]);
            self.have += take;
            *input = &input[take..];
            if self.have < HEADER {
                return Ok(None);
            }
            self.have = 0;
            self.body = Some(Self::decode(&self.header)?);
        }
    }

    fn decode(header: &[u8; HEADER]) -> Result<(Frame, usize), Broken> {
        let u32_at = |at: usize| {
            u32::from_le_bytes([header[at], header[at + 1], header[at + 2], header[at + 3]])
        };
        let u16_at = |at: usize| u16::from_le_bytes([header[at], header[at + 1]]);
        let (kind, max) = Kind::from_host(u16_at(8)).ok_or(Broken("unknown frame type"))?;
        let length = u32_at(0) as usize;
        if length > max {
            return Err(Broken("frame too long"));
        }
        let flags = u16_at(10);
        if flags & !FLAG_END != 0 {
            return Err(Broken("unknown flags"));
        }
        let frame = Frame {
            stream: u32_at(4),
            kind,
            end: flags & FLAG_END != 0,
            payload: Vec::with_capacity(length),
        };
        Ok((frame, length))
    }
}

#[cfg(test)]
#[path = "frame_test.rs"]
mod tests;
