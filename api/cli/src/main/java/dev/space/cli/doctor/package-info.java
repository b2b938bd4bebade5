/** Looks at the machine and says what is missing and how to mend it. Changes nothing. */
@NullMarked
package dev.space.cli.doctor;

import org.jspecify.annotations.NullMarked;
