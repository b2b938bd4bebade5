/** Typed configuration of the control plane, its keys, and secrets from files. */
@NullMarked
package dev.space.service.config;

import org.jspecify.annotations.NullMarked;
