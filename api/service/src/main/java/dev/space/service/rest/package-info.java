/** REST /v1: reads requests, checks every field, answers records; decides nothing. */
@NullMarked
package dev.space.service.rest;

import org.jspecify.annotations.NullMarked;
