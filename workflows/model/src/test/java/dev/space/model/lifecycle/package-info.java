/** Tests of the lifecycle table, cell by cell, against a second statement of it. */
@NullMarked
package dev.space.model.lifecycle;

import org.jspecify.annotations.NullMarked;
