/** Errors of the catalogue as problem+json; the only place that makes an error answer. */
@NullMarked
package dev.space.service.problem;

import org.jspecify.annotations.NullMarked;
