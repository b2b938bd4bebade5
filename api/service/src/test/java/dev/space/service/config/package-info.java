/** The configuration keys. */
@NullMarked
package dev.space.service.config;

import org.jspecify.annotations.NullMarked;
