/** Readiness, liveness and what must be warm before traffic comes. */
@NullMarked
package dev.space.service.health;

import org.jspecify.annotations.NullMarked;
