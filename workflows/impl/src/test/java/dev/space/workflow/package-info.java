/**
 * Tests of the session workflow on the in-process Temporal test server, with fake nodes and rows.
 */
@NullMarked
package dev.space.workflow;

import org.jspecify.annotations.NullMarked;
