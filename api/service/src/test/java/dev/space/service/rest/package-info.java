/** Reading requests: bounds, strictness and what refusals say. */
@NullMarked
package dev.space.service.rest;

import org.jspecify.annotations.NullMarked;
