/**
 * The embedded S3 server: S3Proxy over a directory of the machine, with writes that are on the disk
 * before they are answered.
 */
@NullMarked
package dev.space.objects;

import org.jspecify.annotations.NullMarked;
