/**
 * The node's side of the network gateway: which session's policy holds for which slot, told to the
 * gateway at every start, end and change, and again whenever it comes back; the addresses that the
 * gateway gave to names, kept for snapshots; its audit records, limited and passed on.
 */
@NullMarked
package dev.space.node.egress;

import org.jspecify.annotations.NullMarked;
