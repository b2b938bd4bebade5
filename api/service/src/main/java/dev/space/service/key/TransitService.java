package dev.space.service.key;

import dev.space.vault.VaultFailure;
import dev.space.vault.VaultTransit;
import java.util.function.Supplier;

/** A key of the transit engine of an OpenBao or Vault server. */
final class TransitService implements KeyService {

    private final VaultTransit transit;

    TransitService(VaultTransit transit) {
        this.transit = transit;
    }

    @Override
    public String wrap(String context, byte[] plain) {
        return translated(() -> transit.encrypt(context, plain));
    }

    @Override
    public byte[] unwrap(String context, String wrapped) {
        return translated(() -> transit.decrypt(context, wrapped));
    }

    private static <T> T translated(Supplier<T> call) {
        try {
            return call.get();
        } catch (VaultFailure failure) {
            boolean passing = failure.fault().isPassing();
            // Of a key that was deleted, disabled or has a newer lowest version it says 400.
            String what =
                    switch (failure.fault()) {
                        case MISCONFIGURED, ABSENT -> "the vault has no such key, or not for this";
                        default -> failure.fault().summary();
                    };
            throw new KeyFault(passing, what);
        }
    }

    @Override
    public void close() {
        transit.close();
    }
}
