/**
 * The lifecycle of a session as one total table. It decides and never acts; code, docs/lifecycle.md
 * and tests derive from it.
 */
@NullMarked
package dev.space.model.lifecycle;

import org.jspecify.annotations.NullMarked;
