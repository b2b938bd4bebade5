/** Files of the node: staging, publishing by rename, trash, snapshots and free space. */
@NullMarked
package dev.space.node.volumes;

import org.jspecify.annotations.NullMarked;
