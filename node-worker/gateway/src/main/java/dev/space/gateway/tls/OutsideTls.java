package dev.space.gateway.tls;

import dev.space.certificates.Pem;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.X509Certificate;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import javax.net.ssl.SNIHostName;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.TrustManagerFactory;

/**
 * TLS to servers: their certificates are verified against the machine's store and the operator's
 * own roots, as of the start of the process.
 */
public final class OutsideTls {

    /** Where the distributions have theirs. */
    private static final List<Path> STORES =
            List.of(
                    Path.of("/etc/ssl/certs/ca-certificates.crt"),
                    Path.of("/etc/pki/tls/certs/ca-bundle.crt"),
                    Path.of("/etc/ssl/ca-bundle.pem"));

    private static final int SESSIONS_MAX = 1000;

    private final SSLContext context;

    private OutsideTls(SSLContext context) {
        this.context = context;
    }

    /**
     * With what is trusted now.
     *
     * @param more roots besides the machine's
     */
    public static OutsideTls open(Optional<Path> more) throws IOException {
        List<X509Certificate> trusted = new ArrayList<>();
        for (Path store : STORES) {
            if (trusted.isEmpty() && Files.isReadable(store)) {
                trusted.addAll(Pem.certificates(Files.readString(store)));
            }
        }
        if (more.isPresent()) {
            trusted.addAll(Pem.certificates(Files.readString(more.get())));
        }
        try {
            return new OutsideTls(context(trusted));
        } catch (GeneralSecurityException e) {
            throw new IOException("TLS cannot be set up: " + e.getMessage(), e);
        }
    }

    private static SSLContext context(List<X509Certificate> trusted)
            throws GeneralSecurityException, IOException {
        KeyStore store = KeyStore.getInstance("PKCS12");
        store.load(null, null);
        for (int i = 0; i < trusted.size(); i++) {
            store.setCertificateEntry("root-" + i, trusted.get(i));
        }
        TrustManagerFactory trust = TrustManagerFactory.getInstance("PKIX");
        trust.init(store);
        SSLContext context = SSLContext.getInstance("TLS");
        context.init(null, trust.getTrustManagers(), null);
        context.getClientSessionContext().setSessionCacheSize(SESSIONS_MAX);
        return context;
    }

    /**
     * For one connection.
     *
     * @param protocols that are offered (ALPN); empty offers none
     * @throws IllegalArgumentException when the name cannot be one of a server with TLS
     */
    public SSLEngine engine(String host, int port, List<String> protocols) {
        SSLEngine engine = context.createSSLEngine(host, port);
        engine.setUseClientMode(true);
        SSLParameters parameters = engine.getSSLParameters();
        parameters.setEndpointIdentificationAlgorithm("HTTPS");
        parameters.setServerNames(List.of(new SNIHostName(host)));
        parameters.setProtocols(SessionTls.versions());
        parameters.setApplicationProtocols(protocols.toArray(String[]::new));
        engine.setSSLParameters(parameters);
        return engine;
    }
}
