@NullMarked
package dev.space.cli.platform;

import org.jspecify.annotations.NullMarked;
