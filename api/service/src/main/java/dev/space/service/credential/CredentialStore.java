package dev.space.service.credential;

import dev.space.model.Secret;
import dev.space.model.credential.CredentialUse;
import dev.space.model.credential.Material;
import java.util.function.Supplier;

/**
 * A place for secrets that this process can write to and not read from. What it answers is kept in
 * a row and handed to gateways, which alone get at the secret by it.
 */
public interface CredentialStore {

    /**
     * Keeps one version of a secret.
     *
     * @param scope whose it is: id of a project or an organisation
     * @param use into which requests it may go: part of what it is bound to
     */
    Material keep(String scope, String id, long version, CredentialUse use, Secret secret);

    /**
     * Does what calls {@link #keep} inside of a transaction: at most so many at once as the store
     * can take without holding up the rest of this process.
     */
    default <T> T inTurn(Supplier<T> work) {
        return work.get();
    }
}
