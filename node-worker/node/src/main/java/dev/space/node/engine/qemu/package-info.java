/** QEMU microVMs in the node-manager's jail: arguments, QMP, the guest's channel, exits. */
@NullMarked
package dev.space.node.engine.qemu;

import org.jspecify.annotations.NullMarked;
