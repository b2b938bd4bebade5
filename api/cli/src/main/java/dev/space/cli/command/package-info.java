/** The subcommands of {@code space}, one class each. */
@NullMarked
package dev.space.cli.command;

import org.jspecify.annotations.NullMarked;
