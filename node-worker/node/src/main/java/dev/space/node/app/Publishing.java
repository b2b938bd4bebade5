package dev.space.node.app;

import dev.space.node.templates.CacheTemplates;
import dev.space.node.templates.TemplatePublisher;
import dev.space.node.templates.TemplateStore;
import java.time.Duration;
import java.util.function.BooleanSupplier;

/** The rhythm in which templates are stored; not in the first minute, which is the node's own. */
final class Publishing implements AutoCloseable {

    private static final Duration LOOK = Duration.ofMinutes(1);
    private static final Duration END_MAX = Duration.ofSeconds(5);

    private final Rounds rounds = new Rounds("template store", 1, END_MAX);
    private final TemplatePublisher publisher;

    private Publishing(TemplatePublisher publisher) {
        this.publisher = publisher;
    }

    static Publishing started(CacheTemplates templates, TemplateStore store, BooleanSupplier busy) {
        Publishing made = new Publishing(new TemplatePublisher(templates, store, busy));
        made.rounds.every(LOOK, made.publisher::look);
        return made;
    }

    @Override
    public void close() {
        publisher.stop();
        rounds.close();
    }
}
