package dev.space.node.templates;

import dev.space.model.Size;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/** The templates that sandboxes of this node can start from. */
public interface TemplateSource {

    /** Of one that is here; fails with {@code UNKNOWN_TEMPLATE}. */
    TemplateInfo info(String digest);

    /** True when {@link #start} would answer without making anything. */
    boolean isReady(String digest, Size size);

    /**
     * The start snapshot; made first when it is not there, once whoever asks, from the template,
     * which is fetched first when another node built it.
     */
    StartFiles start(String digest, Size size);

    /**
     * A directory with {@code disk}: the template's root file system, which is the same on every
     * node. Every disk of the template began with it. Brought here first when it is not there.
     */
    Path root(String digest);

    List<State> states();

    /** Fails with {@code UNKNOWN_TEMPLATE} where it is neither here nor can be fetched. */
    default void requireKnown(String digest) {
        var _ = info(digest);
    }

    /** Fetches what a name means in the installation; its digest, where there is such a one. */
    default Optional<String> bringNamed(String name) {
        return Optional.empty();
    }

    /** What is being fetched and how far it is, in words; empty when nothing is. */
    default String progress() {
        return "";
    }

    /**
     * One template and the sizes whose start snapshot is here.
     *
     * @param named false for one that was fetched by its digest: the name means another here
     */
    record State(String digest, String name, List<Size> ready, boolean named) {

        public State {
            ready = List.copyOf(ready);
        }
    }
}
