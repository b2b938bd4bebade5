/** The commands' own parts, without a platform. */
@NullMarked
package dev.space.cli.command;

import org.jspecify.annotations.NullMarked;
