/**
 * Secrets in an OpenBao or Vault server (KV version 2, AppRole). One process only writes and
 * another only reads, each with a role that may do no more; the rules for both are in {@code
 * vault-policies/}.
 */
@NullMarked
package dev.space.vault;

import org.jspecify.annotations.NullMarked;
