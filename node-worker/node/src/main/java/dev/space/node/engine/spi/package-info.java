/**
 * What the sandbox manager needs of an engine, and what a guest can be asked. No class of an engine
 * appears here.
 */
@NullMarked
package dev.space.node.engine.spi;

import org.jspecify.annotations.NullMarked;
