/** Tests of where secrets go. */
@NullMarked
package dev.space.service.credential;

import org.jspecify.annotations.NullMarked;
