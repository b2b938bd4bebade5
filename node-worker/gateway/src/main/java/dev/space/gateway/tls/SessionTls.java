package dev.space.gateway.tls;

import dev.space.certificates.Authority;
import dev.space.certificates.Keys;
import java.security.GeneralSecurityException;
import java.security.KeyPair;
import java.security.cert.X509Certificate;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import javax.net.ssl.KeyManager;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLParameters;
import org.jspecify.annotations.Nullable;

/**
 * TLS to one session's sandbox. Its certificates come from an authority that is made for the
 * session and its names, in memory only, and made again when the names change or half of its time
 * is over. Lives on its slot's loop.
 */
public final class SessionTls {

    /** Hosts whose certificates are kept; others are made again. */
    static final int HOSTS_MAX = 256;

    private static final Duration RENEWED_BEFORE = Authority.SESSION_VALIDITY.dividedBy(2);
    private static final int SESSIONS_MAX = 256;
    private static final String[] VERSIONS = {"TLSv1.3", "TLSv1.2"};

    private final Optional<Authority> gateway;
    private final String session;
    private final Clock clock;
    private Set<String> names = Set.of();
    private @Nullable Issue issue;

    /**
     * Without names at first.
     *
     * @param gateway that signs; empty when nothing can be looked into
     */
    public SessionTls(Optional<Authority> gateway, String session, Clock clock) {
        this.gateway = gateway;
        this.session = session;
        this.clock = clock;
    }

    static String[] versions() {
        return VERSIONS.clone();
    }

    /** For which names there may be certificates from now on. */
    public void allow(Set<String> now) {
        if (!names.equals(now)) {
            names = Set.copyOf(now);
            issue = null;
        }
    }

    /**
     * For one connection of the sandbox to a host; empty when there is no authority.
     *
     * @param protocol that is agreed to when the sandbox offers it (ALPN); empty for none
     */
    public Optional<SSLEngine> engine(String host, int port, String protocol) {
        if (gateway.isEmpty() || names.isEmpty()) {
            return Optional.empty();
        }
        Instant now = clock.instant();
        Issue made = issue;
        if (made == null || !made.authority.lasts(RENEWED_BEFORE, now)) {
            made = new Issue(gateway.get().session(session, names, now));
            issue = made;
        }
        made.know(host, now);
        SSLEngine engine = made.context.createSSLEngine(host, port);
        engine.setUseClientMode(false);
        SSLParameters parameters = engine.getSSLParameters();
        parameters.setProtocols(versions());
        if (!protocol.isEmpty()) {
            parameters.setApplicationProtocols(new String[] {protocol});
        }
        engine.setSSLParameters(parameters);
        return Optional.of(engine);
    }

    /** How many hosts have a certificate now. */
    int hosts() {
        return issue == null ? 0 : issue.leaves.size();
    }

    /** One authority with what it signed. */
    private static final class Issue {

        final Authority authority;
        final KeyPair keys = Keys.generate();
        final SSLContext context;
        final Map<String, List<X509Certificate>> leaves =
                new LinkedHashMap<>(16, 0.75f, true) {
                    private static final long serialVersionUID = 1L;

                    @Override
                    protected boolean removeEldestEntry(
                            Map.Entry<String, List<X509Certificate>> eldest) {
                        return size() > HOSTS_MAX;
                    }
                };

        Issue(Authority authority) {
            this.authority = authority;
            try {
                context = SSLContext.getInstance("TLS");
                context.init(
                        new KeyManager[] {new HostKeys(keys.getPrivate(), leaves::get)},
                        null,
                        null);
            } catch (GeneralSecurityException e) {
                throw new IllegalStateException("every JDK speaks TLS", e);
            }
            context.getServerSessionContext().setSessionCacheSize(SESSIONS_MAX);
        }

        void know(String host, Instant now) {
            var _ = leaves.computeIfAbsent(host, h -> authority.leaf(h, keys.getPublic(), now));
        }
    }
}
