/** Reads and answers what sandboxes ask of DNS. Nothing here asks anybody. */
@NullMarked
package dev.space.gateway.dns;

import org.jspecify.annotations.NullMarked;
