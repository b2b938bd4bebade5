/** Reports to the control plane, kept on disk until they are acknowledged. */
@NullMarked
package dev.space.node.reports;

import org.jspecify.annotations.NullMarked;
