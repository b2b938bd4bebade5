/** Tests of the package of the same name. */
@NullMarked
package dev.space.model.credential;

import org.jspecify.annotations.NullMarked;
