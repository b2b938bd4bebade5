@NullMarked
package dev.space.cli.config;

import org.jspecify.annotations.NullMarked;
