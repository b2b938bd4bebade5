/**
 * The {@code space} command: entry point and the tree of subcommands. Parsing and printing only;
 * what a command does lives in the packages below.
 */
@NullMarked
package dev.space.cli;

import org.jspecify.annotations.NullMarked;
