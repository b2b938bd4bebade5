/**
 * The vocabulary of the platform in plain Java: typed ids, sizes, fencing, the lifecycle table, the
 * error catalogue and the limits. Does no input or output, and reads no clock.
 */
@NullMarked
package dev.space.model;

import org.jspecify.annotations.NullMarked;
