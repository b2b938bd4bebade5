/** The process: its parts together, health and metrics. */
@NullMarked
package dev.space.gateway.app;

import org.jspecify.annotations.NullMarked;
