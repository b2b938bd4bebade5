/**
 * Typed configuration of the process, read from one properties file; an unknown key stops start-up.
 */
@NullMarked
package dev.space.gateway.config;

import org.jspecify.annotations.NullMarked;
