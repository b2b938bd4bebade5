package dev.space.node.templates;

import dev.space.model.Size;
import java.nio.file.Path;
import java.util.List;

/** The templates that sandboxes of this node can start from. */
public interface TemplateSource {

    /** Fails with {@code UNKNOWN_TEMPLATE}. */
    TemplateInfo info(String digest);

    /** True when {@link #start} would answer without making anything. */
    boolean isReady(String digest, Size size);

    /** The start snapshot; made first when it is not there, once whoever asks. */
    StartFiles start(String digest, Size size);

    /**
     * A directory with {@code disk}: the template's root file system, which is the same on every
     * node. Every disk of the template began with it. Brought here first when it is not there.
     */
    Path root(String digest);

    List<State> states();

    /** One template and the sizes whose start snapshot is here. */
    record State(String digest, String name, List<Size> ready) {

        public State {
            ready = List.copyOf(ready);
        }
    }
}
