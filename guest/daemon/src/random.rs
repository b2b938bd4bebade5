//! A seeded generator for tests: the same seed gives the same run.

pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Random {
        Random(seed | 1)
    }

    pub fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    pub fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound.max(1) as u64) as usize
    }

    pub fn bytes(&mut self, length: usize) -> Vec<u8> {
        (0..length).map(|_| self.next() as u8).collect()
    }

    /// A valid input with some bytes changed, cut out or doubled.
    pub fn mutate(&mut self, valid: &[u8]) -> Vec<u8> {
        let mut bytes = valid.to_vec();
        for _ in 0..=self.below(4) {
            if bytes.is_empty() {
                break;
            }
            let at = self.below(bytes.len());
            match self.below(4) {
                0 => bytes[at] = self.next() as u8,
                1 => bytes[at] ^= 1 << self.below(8),
                2 => drop(bytes.drain(at..(at + self.below(16)).min(bytes.len()))),
                _ => {
                    let piece = bytes[at..(at + self.below(16)).min(bytes.len())].to_vec();
                    bytes.splice(at..at, piece);
                }
            }
        }
        bytes
    }
}
