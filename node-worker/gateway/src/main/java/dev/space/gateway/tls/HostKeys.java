package dev.space.gateway.tls;

import java.net.Socket;
import java.security.Principal;
import java.security.PrivateKey;
import java.security.cert.X509Certificate;
import java.util.List;
import java.util.function.Function;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.X509ExtendedKeyManager;
import org.jspecify.annotations.Nullable;

/** The server's key and the chain for the host that the engine was made for. */
final class HostKeys extends X509ExtendedKeyManager {

    private final PrivateKey key;
    private final Function<String, @Nullable List<X509Certificate>> chains;

    HostKeys(PrivateKey key, Function<String, @Nullable List<X509Certificate>> chains) {
        this.key = key;
        this.chains = chains;
    }

    @Override
    public @Nullable String chooseEngineServerAlias(
            String keyType, Principal @Nullable [] issuers, SSLEngine engine) {
        return keyType.startsWith("EC") ? engine.getPeerHost() : null;
    }

    @Override
    public X509Certificate @Nullable [] getCertificateChain(String alias) {
        List<X509Certificate> chain = chains.apply(alias);
        return chain == null ? null : chain.toArray(X509Certificate[]::new);
    }

    @Override
    public PrivateKey getPrivateKey(String alias) {
        return key;
    }

    @Override
    public String[] getServerAliases(String keyType, Principal @Nullable [] issuers) {
        return new String[0];
    }

    @Override
    public @Nullable String chooseServerAlias(
            String keyType, Principal @Nullable [] issuers, Socket socket) {
        return null;
    }

    @Override
    public String[] getClientAliases(String keyType, Principal @Nullable [] issuers) {
        return new String[0];
    }

    @Override
    public @Nullable String chooseClientAlias(
            String[] keyTypes, Principal @Nullable [] issuers, Socket socket) {
        return null;
    }
}
