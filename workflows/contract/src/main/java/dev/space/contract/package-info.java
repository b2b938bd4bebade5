/**
 * What workflows, activities and their callers agree on: interfaces, payload records, queue names.
 */
@NullMarked
package dev.space.contract;

import org.jspecify.annotations.NullMarked;
