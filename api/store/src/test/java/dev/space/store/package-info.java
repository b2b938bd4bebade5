/** The fenced writes against a real PostgreSQL. */
@NullMarked
package dev.space.store;

import org.jspecify.annotations.NullMarked;
