/**
 * The session workflow as its callers see it. The workflow's id is the session's id. No payload
 * holds a secret or the user's environment.
 */
@NullMarked
package dev.space.contract.session;

import org.jspecify.annotations.NullMarked;
