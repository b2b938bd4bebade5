/**
 * The control-plane process: assembles API, activities and workflow workers by role. Nothing else
 * sees both sides.
 */
@NullMarked
package dev.space.app;

import org.jspecify.annotations.NullMarked;
