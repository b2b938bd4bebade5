package dev.space.node.app;

import dev.space.model.Size;
import dev.space.node.pool.PoolSettings;
import dev.space.node.reports.Backoff;
import dev.space.node.templates.TemplateSource;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Makes the configured start snapshots before the node says that it is ready. */
final class Preparation {

    private static final Logger LOG = LoggerFactory.getLogger(Preparation.class);
    private static final Duration RETRY_FIRST = Duration.ofSeconds(1);
    private static final Duration RETRY_MAX = Duration.ofSeconds(30);

    private final TemplateSource templates;
    private final List<Wanted> wanted;
    private volatile String waitsFor;

    private record Wanted(String template, Size size) {

        static Wanted of(String text) {
            String[] parts = text.strip().split(":", -1);
            if (parts.length == 2) {
                Size size = Size.fromWireName(parts[1]).orElse(null);
                if (size != null && !parts[0].isEmpty()) {
                    return new Wanted(parts[0], size);
                }
            }
            throw new IllegalArgumentException(
                    "space.node.prepare holds template:size entries, not " + text);
        }
    }

    Preparation(TemplateSource templates, List<String> prepare) {
        this.templates = templates;
        this.wanted = prepare.stream().filter(t -> !t.isBlank()).map(Wanted::of).toList();
        this.waitsFor = wanted.isEmpty() ? "" : "templates";
    }

    /** What was configured. */
    List<PoolSettings.Start> starts() {
        return wanted.stream().map(w -> new PoolSettings.Start(w.template(), w.size())).toList();
    }

    /** Empty when all is prepared. */
    String waitsFor() {
        String reason = waitsFor;
        String progress = reason.isEmpty() ? "" : templates.progress();
        return progress.isEmpty() ? reason : reason + ": " + progress;
    }

    void start() {
        Thread.ofVirtual().name("prepare").start(this::run);
    }

    private void run() {
        for (Wanted next : wanted) {
            Backoff backoff = new Backoff(RETRY_FIRST, RETRY_MAX);
            while (!prepared(next)) {
                try {
                    backoff.sleep();
                } catch (InterruptedException e) {
                    Thread.currentThread().interrupt();
                    return;
                }
            }
        }
        waitsFor = "";
    }

    /** In words that need no escape in JSON. */
    private String missing(String template) {
        List<String> there =
                templates.states().stream().map(TemplateSource.State::name).sorted().toList();
        return "template %s, which neither the cache has (it has: %s) nor the object store;"
                        .concat(" build it with")
                        .formatted(template, there.isEmpty() ? "none" : String.join(", ", there))
                + " SPACE_TEMPLATES=%s ./space prepare, or set space.node.prepare"
                        .formatted(template);
    }

    private boolean prepared(Wanted next) {
        waitsFor = "template " + next.template() + " in size " + next.size().wireName();
        try {
            for (TemplateSource.State state : templates.states()) {
                if (state.named() && state.name().equals(next.template())) {
                    templates.start(state.digest(), next.size());
                    return true;
                }
            }
            // Another node may have built it.
            Optional<String> brought = templates.bringNamed(next.template());
            if (brought.isPresent()) {
                templates.start(brought.get(), next.size());
                return true;
            }
            waitsFor = missing(next.template());
            LOG.warn(waitsFor);
        } catch (RuntimeException e) {
            LOG.warn("{} is not prepared; trying again", next, e);
        }
        return false;
    }
}
