/** The node served to others: gRPC and the Temporal activities. Translates; decides nothing. */
@NullMarked
package dev.space.node.api;

import org.jspecify.annotations.NullMarked;
