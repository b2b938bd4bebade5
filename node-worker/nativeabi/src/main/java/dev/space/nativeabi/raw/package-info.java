/**
 * The raw layer: downcall handles, constants and struct layouts, exactly as the C headers have
 * them. Used by dev.space.nativeabi alone. A test compares the layouts with what a compiled C probe
 * says.
 */
@NullMarked
package dev.space.nativeabi.raw;

import org.jspecify.annotations.NullMarked;
