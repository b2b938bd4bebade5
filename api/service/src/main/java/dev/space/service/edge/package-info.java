/** The data plane's edge: finds a session's sandbox and streams to and from its node. */
@NullMarked
package dev.space.service.edge;

import org.jspecify.annotations.NullMarked;
