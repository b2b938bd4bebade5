/** Tests of ids, errors and small types. */
@NullMarked
package dev.space.model.egress;

import org.jspecify.annotations.NullMarked;
