/**
 * VMs that are made before anybody asks for them: hot ones, which have run a command and stand
 * still, and VMMs that wait for a snapshot to load. They are made when nothing else is to be done
 * and given up for whoever needs their room. None outlives this process.
 */
@NullMarked
package dev.space.node.pool;

import org.jspecify.annotations.NullMarked;
