/**
 * What a session's sandbox may reach: the policy's record, its strict parser and canonical JSON,
 * the presets, and the pure evaluator that answers for a name, a connection and an HTTP request. It
 * resolves nothing and opens nothing; the gateway acts on what it says.
 */
@NullMarked
package dev.space.model.egress;

import org.jspecify.annotations.NullMarked;
