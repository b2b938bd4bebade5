/**
 * Files on disks that no sandbox uses: of snapshots, of a session now, of a template; and what
 * differs between two of them. The file systems were made by guests, so a confined program of its
 * own reads them (node-worker/reader), never this machine's kernel and never this process.
 */
@NullMarked
package dev.space.node.browse;

import org.jspecify.annotations.NullMarked;
