# The network gateways: read single versions whose path they are told. They list and write nothing.
# "space" is space.credentials.vault.mount, "credentials" is space.credentials.vault.prefix.

path "space/data/credentials/+/+" {
  capabilities = ["read"]
}

# Its own token: renew it, give it back, and ask what it may do (`space doctor`).
path "auth/token/renew-self" {
  capabilities = ["update"]
}

path "auth/token/revoke-self" {
  capabilities = ["update"]
}

path "sys/capabilities-self" {
  capabilities = ["update"]
}
