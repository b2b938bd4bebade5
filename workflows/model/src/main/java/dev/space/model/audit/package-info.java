/** The chain of hashes over what was done: who changes or removes one record breaks it. */
@NullMarked
package dev.space.model.audit;

import org.jspecify.annotations.NullMarked;
