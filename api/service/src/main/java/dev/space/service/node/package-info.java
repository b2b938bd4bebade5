/** What nodes report: registration, lease, VM exits, activity and audit. */
@NullMarked
package dev.space.service.node;

import org.jspecify.annotations.NullMarked;
