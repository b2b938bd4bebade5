/**
 * The Java SDK: the REST interface as methods, on the JDK's own HTTP client and Jackson. It holds
 * the wire's names only and depends on nothing else of the platform.
 */
@NullMarked
package dev.space.client;

import org.jspecify.annotations.NullMarked;
