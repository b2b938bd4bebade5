/**
 * Sandbox manager: one journal and one lock for each session; every lifecycle step is fenced and
 * repeatable.
 */
@NullMarked
package dev.space.node.sandbox;

import org.jspecify.annotations.NullMarked;
