/**
 * Where secrets go on their way in. They come out on no way that begins here: what this process
 * keeps is sealed to the gateways' key.
 */
@NullMarked
package dev.space.service.credential;

import org.jspecify.annotations.NullMarked;
