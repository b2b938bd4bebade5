/** Assembly of the process: wiring, start-up order, health and metrics. */
@NullMarked
package dev.space.node.app;

import org.jspecify.annotations.NullMarked;
