/** Who calls: API keys, looked up by their hash and cached for seconds. */
@NullMarked
package dev.space.service.auth;

import org.jspecify.annotations.NullMarked;
