/** Tests of the certificates, with the verifiers that clients have. */
@NullMarked
package dev.space.certificates;

import org.jspecify.annotations.NullMarked;
