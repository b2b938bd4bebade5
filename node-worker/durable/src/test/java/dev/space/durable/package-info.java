/** Tests of the durable store, over a store in memory with faults and over a real S3 server. */
@NullMarked
package dev.space.durable;

import org.jspecify.annotations.NullMarked;
