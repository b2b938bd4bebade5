/**
 * The only way out of a sandbox. All traffic of a slot arrives on sockets that were born in its
 * network namespace, so the descriptor says who speaks; what is not bound to a session, and what
 * its policy does not allow, is refused here.
 */
@NullMarked
package dev.space.gateway;

import org.jspecify.annotations.NullMarked;
