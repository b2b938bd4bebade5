/**
 * What callers and servers of the node API share: how errors of the catalogue travel over gRPC, and
 * the client's bounded set of channels with the node token.
 */
@NullMarked
package dev.space.nodeapi;

import org.jspecify.annotations.NullMarked;
