use super::*;
use crate::random::Random;

fn copied(output: &Output, from: u64, max: usize) -> Vec<u8> {
    let mut into = Vec::new();
    output.copy(from, max, &mut into);
    into
}

#[test]
fn what_is_not_acknowledged_is_never_dropped() {
    let mut output = Output::default();
    output.add(b"abcdef", 8);
    assert_eq!(output.room(8), 2);
    output.acknowledge(4);
    assert_eq!(output.room(8), 6);
    output.add(b"ghijkl", 8);
    // "abcd" made way; "efghijkl" is all that fits.
    assert_eq!(output.end(), 12);
    assert_eq!(copied(&output, 4, 100), b"efghijkl");
    assert_eq!(output.room(8), 0);
}

#[test]
fn acknowledgements_only_grow_and_stay_within_what_is_there() {
    let mut output = Output::default();
    output.add(b"abcdef", 64);
    output.acknowledge(100);
    output.acknowledge(2);
    assert_eq!(output.room(64), 64);
    assert_eq!(output.start_reading(1), 1, "kept while there is room");
    output.shrink();
    assert_eq!(output.start_reading(1), 6, "a jump tells that it is gone");
    assert_eq!(copied(&output, 6, 10), b"");
}

#[test]
fn random_use_gives_the_same_bytes_as_one_long_log() {
    let mut random = Random::new(77);
    for _ in 0..200 {
        let limit = 64 + random.below(1000);
        let mut output = Output::default();
        let mut log: Vec<u8> = Vec::new();
        let mut read: u64 = 0;
        for _ in 0..100 {
            let room = output.room(limit);
            let length = random.below(room + 1);
            let bytes = random.bytes(length);
            log.extend_from_slice(&bytes);
            output.add(&bytes, limit);
            assert!(output.kept() <= limit);
            let piece = copied(&output, read, random.below(limit));
            assert_eq!(piece, log[read as usize..read as usize + piece.len()]);
            read += piece.len() as u64;
            if random.below(3) == 0 {
                output.acknowledge(read);
            }
        }
        assert_eq!(output.end(), log.len() as u64);
    }
}
