/** The checks of doctor on made-up directories. */
@NullMarked
package dev.space.cli.doctor;

import org.jspecify.annotations.NullMarked;
