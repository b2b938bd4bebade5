/**
 * Panache views of the rows for answers of the API. They are immutable on purpose: a row that is a
 * fence must not be written around its conditional writes.
 */
@NullMarked
package dev.space.store.view;

import org.jspecify.annotations.NullMarked;
