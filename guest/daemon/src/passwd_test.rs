use super::*;
use crate::random::Random;

const PASSWD: &[u8] = b"root:x:0:0:root:/root:/bin/bash\n\
# a comment:x:1:1::/:/bin/sh\n\
broken line\n\
user:x:1000:1001:Some One,,,:/home/user:/bin/bash\n\
minus:x:4294967295:1:::\n\
twice:x:1000:5::/:\n\
relative:x:7:7::home:sh\n";
const GROUP: &[u8] =
    b"root:x:0:\nsudo:x:27:other,user\nuser:x:1001:\nx:x:bad:user\nsudo2:x:27:user\n";

#[test]
fn users_are_found_by_name_and_number() {
    let user = find_user(PASSWD, b"user").unwrap();
    assert_eq!((user.uid, user.gid), (1000, 1001));
    assert_eq!(user.home, b"/home/user");
    assert_eq!(find_user(PASSWD, b"1000").unwrap().name, b"user");
    assert_eq!(find_user(PASSWD, b"root").unwrap().uid, 0);
}

#[test]
fn what_is_malformed_is_nobody() {
    for name in ["# a comment", "broken line", "minus", "", "use", "4294967295", "-1", "none"] {
        assert_eq!(find_user(PASSWD, name.as_bytes()), None, "{name}");
    }
    let relative = find_user(PASSWD, b"relative").unwrap();
    assert_eq!((relative.home.as_slice(), relative.shell.as_slice()), (&b"/"[..], &b"/bin/sh"[..]));
}

#[test]
fn groups_are_the_own_and_those_that_list_the_user_once() {
    let user = find_user(PASSWD, b"user").unwrap();
    assert_eq!(find_groups(GROUP, &user), [1001, 27]);
}

#[test]
fn names_of_numbers_fall_back_to_the_number() {
    assert_eq!(name_of(PASSWD, 1000), "user");
    assert_eq!(name_of(PASSWD, 99), "99");
    assert_eq!(name_of(GROUP, 27), "sudo");
}

#[test]
fn mutated_files_give_users_or_none() {
    let mut random = Random::new(5);
    for _ in 0..20_000 {
        let file = random.mutate(PASSWD);
        if let Some(user) = find_user(&file, b"user") {
            assert!(user.uid != u32::MAX && user.home.starts_with(b"/"));
            assert!(find_groups(&random.mutate(GROUP), &user).len() <= GROUPS_MAX);
        }
    }
}
