package dev.space.gateway.config;

import dev.space.certificates.Authority;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Optional;

/**
 * Files with what is needed to look into TLS. Without an authority nothing is looked into, and what
 * would have to be is refused.
 *
 * @param chain of the gateway's own authority, up to the installation's root
 * @param key of that authority
 * @param keyset that opens sealed credentials
 * @param extraRoots trusted outside besides the machine's own
 */
public record TlsFiles(
        Optional<Path> chain,
        Optional<Path> key,
        Optional<Path> keyset,
        Optional<Path> extraRoots) {

    /** None of them. */
    public static final TlsFiles NONE =
            new TlsFiles(Optional.empty(), Optional.empty(), Optional.empty(), Optional.empty());

    /** Reads it, when it is configured. */
    public Optional<Authority> authority() throws IOException {
        if (chain.isPresent() != key.isPresent()) {
            throw new IllegalArgumentException(
                    "space.gateway.ca-chain and space.gateway.ca-key are set together");
        }
        return chain.isEmpty()
                ? Optional.empty()
                : Optional.of(Authority.read(chain.get(), key.orElseThrow()));
    }
}
