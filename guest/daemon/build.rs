//! Generates the messages from the one protocol definition, with a protoc that cargo fetched.

use std::io::Result;
use std::path::Path;

fn main() -> Result<()> {
    let root = Path::new("../protocol/src/main/protobuf");
    let file = root.join("space/guest/v1/guest.proto");
    println!("cargo:rerun-if-changed={}", file.display());
    let protoc = protoc_bin_vendored::protoc_bin_path().map_err(std::io::Error::other)?;
    prost_build::Config::new()
        .protoc_executable(protoc)
        .btree_map(["."])
        .compile_protos(&[file], &[root])
}
