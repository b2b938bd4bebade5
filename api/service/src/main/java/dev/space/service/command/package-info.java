/** Lifecycle commands: written down, sent to the session's workflow, and waited for. */
@NullMarked
package dev.space.service.command;

import org.jspecify.annotations.NullMarked;
