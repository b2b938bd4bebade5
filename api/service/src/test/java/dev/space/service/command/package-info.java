/** Commands on their way to a session, and what is encrypted with them. */
@NullMarked
package dev.space.service.command;

import org.jspecify.annotations.NullMarked;
