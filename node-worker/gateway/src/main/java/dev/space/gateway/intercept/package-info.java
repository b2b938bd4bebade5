/**
 * TLS that is looked into: one connection of the sandbox and one to the outside, both with the same
 * HTTP version, and every request between them judged and written anew.
 */
@NullMarked
package dev.space.gateway.intercept;

import org.jspecify.annotations.NullMarked;
