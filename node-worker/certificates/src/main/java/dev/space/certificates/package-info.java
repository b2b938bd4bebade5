/**
 * The certificates of interception: a root of the installation, intermediates below it, the last of
 * which is good for one session's names only, and leaves for single hosts.
 */
@NullMarked
package dev.space.certificates;

import org.jspecify.annotations.NullMarked;
