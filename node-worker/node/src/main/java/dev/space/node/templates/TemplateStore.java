package dev.space.node.templates;

import dev.space.durable.TransferControl;
import dev.space.model.ErrorCode;
import dev.space.model.SpaceException;
import java.nio.file.Path;
import java.util.Optional;

/** The installation's templates in the object store, and which of them count. */
public interface TemplateStore {

    /** A node without an object store, or without anybody to ask what is in it. */
    TemplateStore NONE = new None();

    /** A template that is stored whole. */
    record Located(String digest, String name, long bytesStored, long bytesLogical) {}

    /** Empty where it is not stored. */
    Optional<Located> find(String digest);

    /** What the name means for new sessions, where that is stored. */
    Optional<Located> named(String name);

    /**
     * Fills an empty directory. Each part is verified before it is written; whatever fails leaves
     * nothing.
     */
    void fetch(String digest, Path staging, TransferControl control);

    /**
     * Stores a template unless it is stored, or another node is storing it. Safe to repeat after
     * any cut: what was sent is found again.
     *
     * @return false where nothing was to be sent
     */
    boolean publish(String digest, String name, Path directory, TransferControl control);

    /** Nothing is stored. */
    final class None implements TemplateStore {

        private None() {}

        @Override
        public Optional<Located> find(String digest) {
            return Optional.empty();
        }

        @Override
        public Optional<Located> named(String name) {
            return Optional.empty();
        }

        @Override
        public void fetch(String digest, Path staging, TransferControl control) {
            throw new SpaceException(ErrorCode.UNKNOWN_TEMPLATE, "no template is stored");
        }

        @Override
        public boolean publish(
                String digest, String name, Path directory, TransferControl control) {
            return false;
        }
    }
}
