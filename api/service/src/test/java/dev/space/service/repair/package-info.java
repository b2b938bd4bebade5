/** Tests of the repairs that need no server. */
@NullMarked
package dev.space.service.repair;

import org.jspecify.annotations.NullMarked;
