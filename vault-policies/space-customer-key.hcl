# What SPACE may do with the key that an organisation protects its stored sessions with, in the
# organisation's own server. "transit" is the mount, "space" the key: change both as they are there.

path "transit/encrypt/space" {
  capabilities = ["update"]
}

path "transit/decrypt/space" {
  capabilities = ["update"]
}

# Its own token: renew it, and give it back.
path "auth/token/renew-self" {
  capabilities = ["update"]
}

path "auth/token/revoke-self" {
  capabilities = ["update"]
}
