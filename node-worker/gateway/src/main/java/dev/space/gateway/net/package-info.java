/**
 * The way out: which addresses may be reached, resolution by the operator's resolver, connecting.
 */
@NullMarked
package dev.space.gateway.net;

import org.jspecify.annotations.NullMarked;
