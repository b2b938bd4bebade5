package dev.space.cli.supervisor;

import dev.space.cli.platform.Platform;

/**
 * What VMs leave on the machine when node-manager could not take it away: their processes, network
 * namespaces and cgroups. Found by looking, never by a list.
 */
final class Leftovers {

    Leftovers(Platform platform) {}

    void remove() {}
}
