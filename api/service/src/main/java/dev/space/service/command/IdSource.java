package dev.space.service.command;

import dev.space.model.Ids;
import dev.space.model.OperationId;
import dev.space.model.SessionId;
import jakarta.inject.Singleton;
import java.security.SecureRandom;

/** Makes new ids. */
@Singleton
public class IdSource {
    private final SecureRandom random = new SecureRandom();

    public SessionId session() {
        return new SessionId(text(SessionId.PREFIX));
    }

    public OperationId operation() {
        return new OperationId(text(OperationId.PREFIX));
    }

    /** The text of an id of another kind. */
    public String text(String prefix) {
        byte[] bytes = new byte[Ids.RANDOM_BYTES];
        random.nextBytes(bytes);
        return Ids.text(prefix, bytes);
    }
}
