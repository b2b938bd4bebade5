/** Tests of the channel: alone against a scripted guest, and (…IT) against the real daemon. */
@NullMarked
package dev.space.guest.channel;

import org.jspecify.annotations.NullMarked;
