/** Secrets of one session: into requests, and out of what comes back. */
@NullMarked
package dev.space.gateway.credential;

import org.jspecify.annotations.NullMarked;
