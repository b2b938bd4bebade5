//! Finds handshakes in what the host sends. Every byte is looked at, whatever the parser makes of
//! it, and a token may be split over reads; so a host that lost track of the guest's state (a new
//! connection, a restored machine) always gets a fresh session.

pub const TOKEN: usize = 32;
pub const NONCE: usize = 16;
pub const ENTROPY: usize = 32;
pub const HANDSHAKE: usize = 128;

const FLAG_STEP_CLOCK: u32 = 1;
const FLAG_ROTATE: u32 = 2;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Handshake {
    pub nonce: [u8; NONCE],
    pub unix_nanos: i64,
    pub entropy: [u8; ENTROPY],
    pub step_clock: bool,
    pub new_token: Option<[u8; TOKEN]>,
}

#[derive(Debug, PartialEq, Eq)]
pub enum Piece<'a> {
    /// Belongs to the session that is open.
    Bytes(&'a [u8]),
    Handshake(Handshake),
}

#[derive(Default)]
pub struct Scanner {
    /// The end of what was handed on, as far as it may be the beginning of a token; or, when
    /// `collecting`, a handshake from its token on.
    held: Vec<u8>,
    collecting: bool,
}

impl Scanner {
    /// Takes all or a part of `input`; None when nothing is left to say.
    pub fn next<'a>(&mut self, token: &[u8; TOKEN], input: &mut &'a [u8]) -> Option<Piece<'a>> {
        loop {
            if self.collecting {
                let take = (HANDSHAKE - self.held.len()).min(input.len());
                self.held.extend_from_slice(&input[..take]);
                *input = &input[take..];
                if self.held.len() < HANDSHAKE {
                    return None;
                }
                let bytes = std::mem::take(&mut self.held);
                self.collecting = false;
                if let Some(handshake) = decode(&bytes, token) {
                    return Some(Piece::Handshake(handshake));
                }
                self.look_again(token, &bytes);
                continue;
            }
            if input.is_empty() {
                return None;
            }
            if let Some(end) = self.find(token, input) {
                self.held = token.to_vec();
                self.collecting = true;
                *input = &input[end..];
                continue;
            }
            let all = *input;
            *input = &[];
            self.remember(token, all);
            return Some(Piece::Bytes(all));
        }
    }

    /// What began with the token was no handshake, but one may begin in it: a host that does not
    /// know whether a token was replaced names it as the new one, and right behind as the present.
    fn look_again(&mut self, token: &[u8; TOKEN], bytes: &[u8]) {
        let found = bytes[1..].windows(TOKEN).position(|window| window == token);
        match found {
            Some(at) => {
                self.held = bytes[at + 1..].to_vec();
                self.collecting = true;
            }
            None => self.remember(token, bytes),
        }
    }

    /// Index behind the first token, which may begin in what is held.
    fn find(&self, token: &[u8; TOKEN], input: &[u8]) -> Option<usize> {
        for start in 0..self.held.len() {
            let before = &self.held[start..];
            let rest = TOKEN - before.len();
            if input.len() >= rest
                && token.starts_with(before)
                && input[..rest] == token[before.len()..]
            {
                return Some(rest);
            }
        }
        let mut from = 0;
        while let Some(at) = find_byte(token[0], &input[from..]) {
            let start = from + at;
            if start + TOKEN > input.len() {
                return None;
            }
            if &input[start..start + TOKEN] == token {
                return Some(start + TOKEN);
            }
            from = start + 1;
        }
        None
    }

    fn remember(&mut self, token: &[u8; TOKEN], input: &[u8]) {
        let mut tail = std::mem::take(&mut self.held);
        tail.extend_from_slice(&input[input.len().saturating_sub(TOKEN - 1)..]);
        let first = tail.len().saturating_sub(TOKEN - 1);
        let start = (first..tail.len()).find(|&at| token.starts_with(&tail[at..]));
        tail.drain(..start.unwrap_or(tail.len()));
        self.held = tail;
    }
}

fn find_byte(byte: u8, within: &[u8]) -> Option<usize> {
    within.iter().position(|&b| b == byte)
}

/// None when it is no handshake after all: then the token's bytes were payload.
fn decode(bytes: &[u8], token: &[u8; TOKEN]) -> Option<Handshake> {
    let new_token: [u8; TOKEN] = bytes[88..120].try_into().ok()?;
    let flags = u32::from_le_bytes(bytes[120..124].try_into().ok()?);
    let zero = u32::from_le_bytes(bytes[124..128].try_into().ok()?);
    if zero != 0 || flags & !(FLAG_STEP_CLOCK | FLAG_ROTATE) != 0 {
        return None;
    }
    let rotate = flags & FLAG_ROTATE != 0;
    if rotate == (new_token == [0; TOKEN]) {
        return None;
    }
    // The builder's token is no secret: it opens a session only by being replaced.
    if *token == [0; TOKEN] && !rotate {
        return None;
    }
    Some(Handshake {
        nonce: bytes[32..48].try_into().ok()?,
        unix_nanos: i64::from_le_bytes(bytes[48..56].try_into().ok()?),
        entropy: bytes[56..88].try_into().ok()?,
        step_clock: flags & FLAG_STEP_CLOCK != 0,
        new_token: rotate.then_some(new_token),
    })
}

#[cfg(test)]
#[path = "scanner_test.rs"]
mod tests;
