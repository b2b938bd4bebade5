package dev.space.client;

import org.jspecify.annotations.Nullable;

/**
 * Which changes of a session.
 *
 * @param from snapshot to compare with; null: the template
 * @param to snapshot to compare; null: the session now
 * @param hash adds the SHA-256 of what was added or modified
 * @param cursor of the page before; null: the first page
 */
public record ChangesQuery(
        @Nullable String from, @Nullable String to, boolean hash, @Nullable String cursor) {}
