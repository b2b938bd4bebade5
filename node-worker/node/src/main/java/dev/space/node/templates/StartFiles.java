package dev.space.node.templates;

import dev.space.node.engine.spi.GuestToken;
import java.nio.file.Path;

/**
 * A template's start snapshot for one size, ready to be cloned.
 *
 * @param directory holds disk, ram and device
 * @param bundle engine bundle that the memory needs
 * @param token what its guest accepts
 */
public record StartFiles(Path directory, String bundle, GuestToken token) {}
