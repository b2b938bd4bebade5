/** Keys of organisations in key services of their own. */
@NullMarked
package dev.space.service.key;

import org.jspecify.annotations.NullMarked;
