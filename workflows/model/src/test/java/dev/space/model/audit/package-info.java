/** Tests of the chain. */
@NullMarked
package dev.space.model.audit;

import org.jspecify.annotations.NullMarked;
