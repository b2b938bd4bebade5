/**
 * Where secrets go on their way in. They come out on no way that begins here: what this process
 * keeps is sealed to the gateways' key, or in a vault whose role for this process cannot read.
 */
@NullMarked
package dev.space.service.credential;

import org.jspecify.annotations.NullMarked;
