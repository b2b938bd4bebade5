use super::*;

const OLD: [u8; TOKEN] = [0x11; TOKEN];

fn token(seed: u8) -> [u8; TOKEN] {
    std::array::from_fn(|i| seed.wrapping_mul(31).wrapping_add(i as u8).wrapping_mul(17) | 1)
}

fn handshake(token: [u8; TOKEN], new: Option<[u8; TOKEN]>, step: bool) -> Vec<u8> {
    let mut bytes = token.to_vec();
    bytes.extend([7; NONCE]);
    bytes.extend(123_456_789i64.to_le_bytes());
    bytes.extend([9; ENTROPY]);
    bytes.extend(new.unwrap_or([0; TOKEN]));
    bytes.extend((u32::from(step) | if new.is_some() { 2 } else { 0 }).to_le_bytes());
    bytes.extend([0; 4]);
    bytes
}

/// Feeds the pieces; gives the bytes before, between and after handshakes, and the handshakes.
fn scan(token: &[u8; TOKEN], pieces: &[&[u8]]) -> (Vec<u8>, Vec<Handshake>) {
    let mut scanner = Scanner::default();
    let (mut bytes, mut found) = (Vec::new(), Vec::new());
    for piece in pieces {
        let mut input = *piece;
        while let Some(piece) = scanner.next(token, &mut input) {
            match piece {
                Piece::Bytes(more) => bytes.extend_from_slice(more),
                Piece::Handshake(handshake) => {
                    bytes.clear();
                    found.push(handshake);
                }
            }
        }
    }
    (bytes, found)
}

#[test]
fn finds_a_handshake_however_it_is_split() {
    let token = token(3);
    let mut stream = b"what an old session had under way".to_vec();
    stream.extend_from_slice(&token[..20]);
    stream.extend(handshake(token, None, true));
    stream.extend_from_slice(b"first request");
    for cut in 0..stream.len() {
        let (a, b) = stream.split_at(cut);
        let (bytes, found) = scan(&token, &[a, b]);
        assert_eq!(found.len(), 1, "cut at {cut}");
        assert!(found[0].step_clock);
        assert_eq!(found[0].unix_nanos, 123_456_789);
        assert_eq!(bytes, b"first request", "cut at {cut}");
    }
    let single: Vec<&[u8]> = stream.chunks(1).collect();
    let (bytes, found) = scan(&token, &single);
    assert_eq!((bytes.as_slice(), found.len()), (&b"first request"[..], 1));
}

#[test]
fn a_token_of_repeated_bytes_is_found_behind_more_of_them() {
    let mut stream = vec![0x11; 45];
    stream.extend(handshake(OLD, None, false));
    for cut in 0..stream.len() {
        let (a, b) = stream.split_at(cut);
        // The first 32 are taken for the token; what follows then decides.
        let (_, found) = scan(&OLD, &[a, b]);
        assert_eq!(found.len(), 1, "cut at {cut}");
    }
}

#[test]
fn a_new_token_in_a_stale_handshake_does_not_hide_the_next_one() {
    let new = token(5);
    let mut stream = handshake(OLD, Some(new), true);
    stream.extend(handshake(new, None, true));
    for cut in 0..stream.len() {
        let (a, b) = stream.split_at(cut);
        let (_, found) = scan(&new, &[a, b]);
        assert_eq!(found.len(), 1, "cut at {cut}");
        assert_eq!(found[0].new_token, None);
    }
}

#[test]
fn the_first_token_opens_nothing_without_being_replaced() {
    let zero = [0; TOKEN];
    let (_, found) = scan(&zero, &[&handshake(zero, None, true)]);
    assert!(found.is_empty());
    let (_, found) = scan(&zero, &[&handshake(zero, Some(OLD), true)]);
    assert_eq!(found.len(), 1);
}

#[test]
fn other_tokens_and_all_other_bytes_pass_through() {
    let mut random = crate::random::Random::new(42);
    for _ in 0..200 {
        let length = random.below(5000);
        let stream = random.bytes(length);
        let mut pieces = Vec::new();
        let mut rest = &stream[..];
        while !rest.is_empty() {
            let cut = random.below(rest.len()) + 1;
            pieces.push(&rest[..cut]);
            rest = &rest[cut..];
        }
        let (bytes, found) = scan(&token(9), &pieces);
        assert!(found.is_empty());
        assert_eq!(bytes, stream);
    }
}
