/**
 * The platform's one configuration file: every key with type, default and meaning, read strictly.
 */
@NullMarked
package dev.space.cli.config;

import org.jspecify.annotations.NullMarked;
