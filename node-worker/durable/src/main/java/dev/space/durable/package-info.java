/**
 * Snapshots in the object store: upload of what changed, download with every byte verified, offline
 * check, and garbage collection. Knows files, manifests and objects only.
 */
@NullMarked
package dev.space.durable;

import org.jspecify.annotations.NullMarked;
