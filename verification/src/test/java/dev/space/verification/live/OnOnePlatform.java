package dev.space.verification.live;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.space.verification.Repository;
import java.io.IOException;
import java.io.UncheckedIOException;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * Tests that take a platform as it comes, without snapshots of the node's own: it is started once
 * for all of them, which is most of their time, and ends with the run. Each leaves no session.
 */
@ExtendWith(OnOnePlatform.Starter.class)
abstract class OnOnePlatform {

    private static final int SLOTS = 10;

    @SuppressWarnings("NullAway.Init") // set before every class
    static Platform platform;

    @SuppressWarnings("NullAway.Init") // set before every class
    static Rest rest;

    /** Starts it once, and stops it after the last class. */
    static final class Starter implements BeforeAllCallback {
        private static final ExtensionContext.Namespace SPACE =
                ExtensionContext.Namespace.create(OnOnePlatform.class);

        @Override
        public void beforeAll(ExtensionContext context) throws IOException {
            String test = context.getDisplayName();
            Platform.whyNot().ifPresent(why -> System.err.println(test + " is not run: " + why));
            assumeTrue(Platform.whyNot().isEmpty(), () -> Platform.whyNot().orElseThrow());
            platform =
                    context.getRoot()
                            .getStore(SPACE)
                            .computeIfAbsent("platform", _ -> new Running(), Running.class)
                            .platform;
            rest = platform.rest();
        }
    }

    /** Closed with the run's root store. */
    private static final class Running implements AutoCloseable {
        private final Platform platform;

        Running() {
            try {
                platform = Platform.start(Repository.root(), SLOTS);
            } catch (IOException failure) {
                throw new UncheckedIOException(failure);
            }
        }

        @Override
        public void close() throws IOException {
            platform.close();
        }
    }
}
