/**
 * One platform on this machine: its directories, users, secrets, ports and volume, and the small
 * tools to look at processes and run system commands.
 */
@NullMarked
package dev.space.cli.platform;

import org.jspecify.annotations.NullMarked;
