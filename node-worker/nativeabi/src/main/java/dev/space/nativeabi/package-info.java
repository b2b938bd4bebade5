/**
 * Typed access to the few Linux calls that the JDK does not offer: reflinks, extent maps, holes,
 * process descriptors and file-system types. The only module that may use java.lang.foreign; users
 * see paths, records and {@link dev.space.nativeabi.NativeException}, never memory segments.
 */
@NullMarked
package dev.space.nativeabi;

import org.jspecify.annotations.NullMarked;
