/** Tests of ids, errors and small types. */
@NullMarked
package dev.space.model;

import org.jspecify.annotations.NullMarked;
