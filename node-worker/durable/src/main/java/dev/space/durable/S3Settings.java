package dev.space.durable;

import dev.space.model.Secret;

/**
 * Where an S3 server is.
 *
 * @param endpoint URL with scheme, host and port
 * @param region what requests are signed for
 * @param bucket must exist, or the key must be allowed to make it
 */
public record S3Settings(
        String endpoint, String region, String bucket, String accessKey, Secret secretKey) {}
