@NullMarked
package dev.space.cli.supervisor;

import org.jspecify.annotations.NullMarked;
