/** Keys of organisations in key services of their own: setting, using and watching them. */
@NullMarked
package dev.space.service.key;

import org.jspecify.annotations.NullMarked;
