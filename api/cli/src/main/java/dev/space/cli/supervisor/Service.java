package dev.space.cli.supervisor;

import dev.space.cli.platform.Users.User;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;

/**
 * One process to supervise.
 *
 * @param groups supplementary groups, numeric; none when empty
 * @param after names of services that must have been ready once before this one starts
 * @param readyMax how long one start may take until ready
 * @param stopSignal the signal that asks for an orderly end
 * @param stopMax how long the orderly end may take before the process is killed
 */
record Service(
        String name,
        User user,
        List<Integer> groups,
        List<String> argv,
        Map<String, String> env,
        Path directory,
        List<String> after,
        Readiness readiness,
        Duration readyMax,
        String stopSignal,
        Duration stopMax) {}
