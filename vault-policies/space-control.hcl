# The control plane: writes secrets and destroys them. It reads none, not even what it wrote.
# "space" is space.credentials.vault.mount, "credentials" is space.credentials.vault.prefix.

path "space/data/credentials/+/+" {
  capabilities = ["create", "update"]
}

# A new version destroys those before the last one.
path "space/destroy/credentials/+/+" {
  capabilities = ["update"]
}

# A credential that is deleted goes with all its versions.
path "space/metadata/credentials/+/+" {
  capabilities = ["delete"]
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
