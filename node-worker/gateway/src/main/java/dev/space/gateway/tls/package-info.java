/** TLS towards sandboxes, with certificates of the session's own, and towards the outside. */
@NullMarked
package dev.space.gateway.tls;

import org.jspecify.annotations.NullMarked;
