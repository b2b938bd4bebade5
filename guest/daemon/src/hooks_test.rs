use super::find;
use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::PathBuf;

struct Directory(PathBuf);

impl Directory {
    fn new(name: &str) -> Directory {
        let path = std::env::temp_dir().join(format!("space-hooks-{name}-{}", std::process::id()));
        fs::create_dir(&path).unwrap();
        fs::set_permissions(&path, Permissions::from_mode(0o755)).unwrap();
        Directory(path)
    }

    fn put(&self, name: &str, mode: u32) {
        let path = self.0.join(name);
        fs::write(&path, "#!/bin/sh\n").unwrap();
        fs::set_permissions(&path, Permissions::from_mode(mode)).unwrap();
    }

    fn found(&self, owner: u32) -> Vec<String> {
        let name = |path: PathBuf| path.file_name().unwrap().to_str().unwrap().to_owned();
        find(&self.0, owner).into_iter().map(name).collect()
    }

    fn owner(&self) -> u32 {
        fs::metadata(&self.0).unwrap().uid()
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        fs::remove_dir_all(&self.0).unwrap();
    }
}

#[test]
fn executables_are_run_in_the_order_of_their_names() {
    let directory = Directory::new("order");
    directory.put("20-second", 0o755);
    directory.put("10-first", 0o700);
    directory.put("README", 0o644);
    fs::create_dir(directory.0.join("30-directory")).unwrap();
    assert_eq!(directory.found(directory.owner()), ["10-first", "20-second"]);
}

#[test]
fn what_others_may_write_is_not_run() {
    let directory = Directory::new("writable");
    directory.put("group", 0o775);
    directory.put("world", 0o757);
    directory.put("good", 0o755);
    assert_eq!(directory.found(directory.owner()), ["good"]);
    assert!(directory.found(directory.owner() + 1).is_empty());
    fs::set_permissions(&directory.0, Permissions::from_mode(0o777)).unwrap();
    assert!(directory.found(directory.owner()).is_empty());
}

#[test]
fn a_template_without_hooks_has_none() {
    assert!(find(&std::env::temp_dir().join("space-hooks-none"), 0).is_empty());
}
