/**
 * Which secret goes into which request: grants as the control plane writes them and the gateway
 * reads them. Secrets themselves are here only sealed, or as the place where a vault has them.
 */
@NullMarked
package dev.space.model.credential;

import org.jspecify.annotations.NullMarked;
