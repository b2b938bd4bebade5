package dev.space.gateway.credential;

import dev.space.model.Secret;
import dev.space.model.credential.Injection;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.SortedMap;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/** AWS Signature Version 4 over a request whose parts are in their one form. */
final class AwsSignature {

    /** SHA-256 of no body. */
    static final String EMPTY = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

    private static final String ALGORITHM = "AWS4-HMAC-SHA256";
    private static final String END = "aws4_request";
    private static final String HMAC = "HmacSHA256";
    private static final int DATE_CHARS = 8;
    private static final DateTimeFormatter TIME =
            DateTimeFormatter.ofPattern("yyyyMMdd'T'HHmmss'Z'").withZone(ZoneOffset.UTC);

    private AwsSignature() {}

    /** As {@code x-amz-date} has it. */
    static String time(Instant at) {
        return TIME.format(at);
    }

    static boolean isS3(Injection.Sigv4 use) {
        return use.service().equals("s3")
                || use.service().equals("s3express")
                || use.service().startsWith("s3-");
    }

    /**
     * The header {@code authorization}.
     *
     * @param target in the form of {@link AwsTarget#plain}
     * @param headers that are signed, by their names in lower case
     */
    static String authorization(
            Injection.Sigv4 use,
            Secret secret,
            String time,
            String method,
            String target,
            SortedMap<String, String> headers,
            String payload) {
        StringBuilder request = new StringBuilder();
        request.append(method).append('\n');
        request.append(AwsTarget.path(target, isS3(use))).append('\n');
        request.append(AwsTarget.query(target)).append('\n');
        headers.forEach((name, value) ->
                request.append(name).append(':').append(oneLine(value)).append('\n'));
        String signed = String.join(";", headers.keySet());
        request.append('\n').append(signed).append('\n').append(payload);
        String date = time.substring(0, DATE_CHARS);
        String scope = date + "/" + use.region() + "/" + use.service() + "/" + END;
        String text = ALGORITHM + "\n" + time + "\n" + scope + "\n" + hash(bytes(request));
        return ALGORITHM
                + " Credential="
                + use.accessKeyId()
                + "/"
                + scope
                + ", SignedHeaders="
                + signed
                + ", Signature="
                + HexFormat.of().formatHex(hmac(key(use, secret, date), text));
    }

    private static byte[] bytes(CharSequence text) {
        return text.toString().getBytes(StandardCharsets.ISO_8859_1);
    }

    private static String oneLine(String value) {
        return value.strip().replaceAll(" {2,}", " ");
    }

    /** Good for a day, a region and a service; wiped by nobody who uses it once. */
    private static byte[] key(Injection.Sigv4 use, Secret secret, String date) {
        byte[] plain = secret.bytes();
        byte[] first = new byte[4 + plain.length];
        System.arraycopy(bytes("AWS4"), 0, first, 0, 4);
        System.arraycopy(plain, 0, first, 4, plain.length);
        try {
            return hmac(hmac(hmac(hmac(first, date), use.region()), use.service()), END);
        } finally {
            Arrays.fill(plain, (byte) 0);
            Arrays.fill(first, (byte) 0);
        }
    }

    private static byte[] hmac(byte[] key, String text) {
        try {
            Mac mac = Mac.getInstance(HMAC);
            mac.init(new SecretKeySpec(key, HMAC));
            return mac.doFinal(bytes(text));
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException("every JDK has HMAC-SHA256", e);
        }
    }

    /** SHA-256 as hexadecimal digits. */
    static String hash(byte[] bytes) {
        try {
            return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(bytes));
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every JDK has SHA-256", e);
        }
    }
}
