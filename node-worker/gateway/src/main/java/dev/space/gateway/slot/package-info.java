/** What is bound: for each slot its session, policy, synthetic addresses, sockets and bounds. */
@NullMarked
package dev.space.gateway.slot;

import org.jspecify.annotations.NullMarked;
