/** Reads small JSON documents strictly, and says of each mistake where it is. */
@NullMarked
package dev.space.model.json;

import org.jspecify.annotations.NullMarked;
