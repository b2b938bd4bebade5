package dev.space.node.templates;

import com.google.protobuf.ByteString;
import dev.space.node.engine.spi.ProcessStart;
import dev.space.node.engine.spi.Vm;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The installation's root certificate, which every sandbox trusts from its start snapshot on. The
 * template itself is shared by installations and knows of none.
 */
public final class GuestRoot {

    private static final String ID = "trust";
    private static final int PEM_BYTES_MAX = 16 << 10;

    /**
     * Debian's tool puts it into the store that OpenSSL, GnuTLS, curl, git and Python read; where
     * there is no tool the store's file gets it. Programs with a store of their own are told by
     * their environment, which space-daemon sets where the first file is.
     */
    private static final String LINE =
            """
            set -e
            umask 022
            mkdir -p /usr/local/share/ca-certificates /etc/ssl/certs
            printf '%s' "$SPACE_ROOT" >/usr/local/share/ca-certificates/space-root.crt
            if command -v update-ca-certificates >/dev/null; then
              update-ca-certificates >/dev/null 2>&1
            else
              printf '%s' "$SPACE_ROOT" >>/etc/ssl/certs/ca-certificates.crt
            fi
            """;

    private final String pem;

    private GuestRoot(String pem) {
        this.pem = pem;
    }

    /** Of a file, or none. */
    public static GuestRoot of(Optional<Path> file) {
        try {
            String pem = file.isEmpty() ? "" : Files.readString(file.get());
            if (pem.length() > PEM_BYTES_MAX) {
                throw new IllegalArgumentException(
                        "space.node.guest-root is no certificate: " + file.orElseThrow());
            }
            return new GuestRoot(pem);
        } catch (IOException e) {
            throw new UncheckedIOException("space.node.guest-root cannot be read", e);
        }
    }

    /** Tells start snapshots with it from those with another; empty for none. */
    String mark() {
        if (pem.isEmpty()) {
            return "";
        }
        try {
            MessageDigest digest = MessageDigest.getInstance("SHA-256");
            return HexFormat.of().formatHex(digest.digest(pem.getBytes(StandardCharsets.UTF_8)));
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every JDK has SHA-256", e);
        }
    }

    /** Makes a running guest trust it. */
    void install(Vm vm) {
        if (pem.isEmpty()) {
            return;
        }
        int code =
                WarmUp.command(
                        vm,
                        new ProcessStart(
                                ID,
                                List.of(),
                                ByteString.copyFromUtf8(LINE),
                                Map.of("SPACE_ROOT", pem),
                                ByteString.EMPTY,
                                "root",
                                WarmUp.TIMEOUT.toMillis(),
                                false));
        WarmUp.demandSuccess("trusting the installation's root", code);
        WarmUp.awaitForgotten(vm, ID);
    }
}
