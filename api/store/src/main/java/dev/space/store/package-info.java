/**
 * The control plane's durable facts in PostgreSQL. Reads of slow tables go through Panache; every
 * conditional write that fencing and idempotency stand on is one small SQL transaction here, so
 * that it can be read, and tested, beside the rule that it carries.
 */
@NullMarked
package dev.space.store;

import org.jspecify.annotations.NullMarked;
