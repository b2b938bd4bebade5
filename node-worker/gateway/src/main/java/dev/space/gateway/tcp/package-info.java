/** Connections from sandboxes: what each must prove before bytes pass, and the passing. */
@NullMarked
package dev.space.gateway.tcp;

import org.jspecify.annotations.NullMarked;
