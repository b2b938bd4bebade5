package dev.space.service.key;

import dev.space.model.Secret;
import java.net.URI;
import java.time.Duration;
import java.util.Base64;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Supplier;
import software.amazon.awssdk.auth.credentials.AwsBasicCredentials;
import software.amazon.awssdk.auth.credentials.StaticCredentialsProvider;
import software.amazon.awssdk.core.SdkBytes;
import software.amazon.awssdk.core.exception.SdkException;
import software.amazon.awssdk.core.exception.SdkServiceException;
import software.amazon.awssdk.http.urlconnection.UrlConnectionHttpClient;
import software.amazon.awssdk.regions.Region;
import software.amazon.awssdk.services.kms.KmsClient;
import software.amazon.awssdk.services.kms.KmsClientBuilder;
import software.amazon.awssdk.services.kms.model.KmsException;

/** A key of a service that speaks the protocol of AWS KMS. */
final class KmsService implements KeyService {

    /** One call with its repetitions. */
    private static final Duration CALL_MAX = Duration.ofSeconds(8);

    private static final Duration CONNECT_MAX = Duration.ofSeconds(2);
    private static final Duration READ_MAX = Duration.ofSeconds(5);
    private static final String CONTEXT = "space";
    private static final int SERVER_FAULT = 500;

    /** Answers below 500 that mean neither yes nor no. */
    private static final Set<String> PASSING =
            Set.of(
                    "ThrottlingException",
                    "LimitExceededException",
                    "DependencyTimeoutException",
                    "KMSInternalException",
                    "KeyUnavailableException",
                    "RequestTimeout",
                    "RequestTimeoutException");

    private final KmsClient client;
    private final String key;

    /**
     * A key and who uses it.
     *
     * @param endpoint of the service; none: AWS's own of the region
     * @param key its id, ARN or alias
     */
    KmsService(Optional<URI> endpoint, String region, String key, Secret id, Secret secret) {
        KmsClientBuilder builder =
                KmsClient.builder()
                        .region(Region.of(region))
                        .credentialsProvider(
                                StaticCredentialsProvider.create(
                                        AwsBasicCredentials.create(id.text(), secret.text())))
                        .httpClientBuilder(
                                UrlConnectionHttpClient.builder()
                                        .connectionTimeout(CONNECT_MAX)
                                        .socketTimeout(READ_MAX))
                        .overrideConfiguration(config ->
                                config.apiCallTimeout(CALL_MAX).apiCallAttemptTimeout(READ_MAX));
        endpoint.ifPresent(builder::endpointOverride);
        this.client = builder.build();
        this.key = key;
    }

    @Override
    public String wrap(String context, byte[] plain) {
        SdkBytes sealed =
                translated(() ->
                        client.encrypt(request ->
                                        request.keyId(key)
                                                .plaintext(SdkBytes.fromByteArray(plain))
                                                .encryptionContext(Map.of(CONTEXT, context)))
                                .ciphertextBlob());
        return Base64.getEncoder().encodeToString(sealed.asByteArrayUnsafe());
    }

    @Override
    public byte[] unwrap(String context, String wrapped) {
        byte[] sealed;
        try {
            sealed = Base64.getDecoder().decode(wrapped);
        } catch (IllegalArgumentException foreign) {
            throw new KeyFault(false, "what is kept was not wrapped by this service");
        }
        return translated(() ->
                client.decrypt(request ->
                                request.keyId(key)
                                        .ciphertextBlob(SdkBytes.fromByteArray(sealed))
                                        .encryptionContext(Map.of(CONTEXT, context)))
                        .plaintext()
                        .asByteArray());
    }

    /** Neither the address nor what the service said is passed on, but for its error's name. */
    private static <T> T translated(Supplier<T> call) {
        try {
            return call.get();
        } catch (KmsException answer) {
            String name = nameOf(answer);
            boolean passing = answer.statusCode() >= SERVER_FAULT || PASSING.contains(name);
            throw new KeyFault(
                    passing,
                    passing
                            ? "the key service fails with an error of its own"
                            : "the key service refuses: " + name);
        } catch (SdkServiceException answer) {
            throw new KeyFault(true, "the key service answers with something else");
        } catch (SdkException unheard) {
            throw new KeyFault(true, "the key service does not answer");
        }
    }

    private static String nameOf(KmsException answer) {
        String name =
                answer.awsErrorDetails() == null
                        ? ""
                        : String.valueOf(answer.awsErrorDetails().errorCode());
        return name.matches("[A-Za-z0-9]{1,64}") ? name : "without a name";
    }

    @Override
    public void close() {
        client.close();
    }
}
