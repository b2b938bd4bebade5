/**
 * Tests that see every module: the rules between modules, tidiness, documents in sync with code,
 * and the platform end to end on the real command.
 */
@NullMarked
package dev.space.verification;

import org.jspecify.annotations.NullMarked;
