use super::*;
use crate::random::Random;

fn parse(bytes: &[u8]) -> Result<Vec<Frame>, Broken> {
    let mut parser = Parser::default();
    let mut input = bytes;
    let mut frames = Vec::new();
    while let Some(frame) = parser.next(&mut input)? {
        frames.push(frame);
    }
    Ok(frames)
}

fn corpus() -> Vec<u8> {
    let mut out = Vec::new();
    encode(&mut out, 1, Kind::Request, true, b"\x0a\x00");
    encode(&mut out, 2, Kind::Data, false, &[7; DATA_MAX]);
    encode(&mut out, 2, Kind::Data, true, b"");
    encode(&mut out, 3, Kind::Credit, false, &1024u32.to_le_bytes());
    encode(&mut out, u32::MAX, Kind::Cancel, true, b"");
    out
}

#[test]
fn frames_survive_any_split() {
    let bytes = corpus();
    let whole = parse(&bytes).unwrap();
    assert_eq!(whole.len(), 5);
    assert_eq!(whole[1].payload.len(), DATA_MAX);
    assert!(whole[4].end && whole[4].stream == u32::MAX);
    let mut random = Random::new(1);
    for _ in 0..300 {
        let mut parser = Parser::default();
        let mut frames = Vec::new();
        let mut rest = &bytes[..];
        while !rest.is_empty() {
            let size = if random.below(2) == 0 { 13 } else { 9000 };
            let cut = (random.below(size) + 1).min(rest.len());
            let mut input = &rest[..cut];
            while let Some(frame) = parser.next(&mut input).unwrap() {
                frames.push(frame);
            }
            rest = &rest[cut..];
        }
        assert_eq!(frames, whole);
    }
}

#[test]
fn every_length_type_and_flag_out_of_bounds_is_refused() {
    let header = |length: u32, kind: u16, flags: u16| {
        let mut bytes = length.to_le_bytes().to_vec();
        bytes.extend(1u32.to_le_bytes());
        bytes.extend(kind.to_le_bytes());
        bytes.extend(flags.to_le_bytes());
        bytes
    };
    assert!(parse(&header(REQUEST_MAX as u32 + 1, 1, 0)).is_err());
    assert!(parse(&header(DATA_MAX as u32 + 1, 3, 0)).is_err());
    assert!(parse(&header(u32::MAX, 3, 0)).is_err());
    assert!(parse(&header(5, 4, 0)).is_err());
    assert!(parse(&header(1, 6, 0)).is_err());
    for kind in [0, 2, 5, 7, u16::MAX] {
        assert!(parse(&header(0, kind, 0)).is_err(), "type {kind}");
    }
    assert!(parse(&header(0, 3, 2)).is_err());
    assert_eq!(parse(&header(REQUEST_MAX as u32, 1, 1)), Ok(vec![]));
}

#[test]
fn mutated_streams_never_make_it_hold_more_than_a_frame() {
    let corpus = corpus();
    let mut random = Random::new(2026);
    for _ in 0..20_000 {
        let length = random.below(200).max(40);
        let bytes = random.mutate(&corpus[..length]);
        if let Ok(frames) = parse(&bytes) {
            assert!(frames.iter().all(|frame| frame.payload.len() <= bytes.len()));
        }
    }
}

#[test]
fn mutated_requests_are_decoded_or_refused() {
    use prost::Message;
    let start = crate::pb::StartProcess {
        id: "p".into(),
        argv: vec![b"echo".to_vec(), b"\xff".to_vec()],
        ..Default::default()
    };
    let body = Some(crate::pb::request::Body::StartProcess(start));
    let valid = crate::pb::Request { body }.encode_to_vec();
    let mut random = Random::new(7);
    for _ in 0..20_000 {
        let _ = crate::pb::Request::decode(&random.mutate(&valid)[..]);
    }
}
