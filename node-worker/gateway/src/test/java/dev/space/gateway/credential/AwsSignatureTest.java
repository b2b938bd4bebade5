package dev.space.gateway.credential;

import static org.assertj.core.api.Assertions.assertThat;

import dev.space.model.Secret;
import dev.space.model.credential.Injection;
import java.util.SortedMap;
import java.util.TreeMap;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvFileSource;
import org.junit.jupiter.params.provider.CsvSource;

/** Signatures as AWS published them, and the form in which a target is sent and signed. */
final class AwsSignatureTest {

    private static final String EMPTY_HASH = AwsSignature.hash(new byte[0]);
    private static final Injection.Sigv4 SUITE =
            new Injection.Sigv4("AKIDEXAMPLE", "us-east-1", "service");
    private static final Injection.Sigv4 S3 =
            new Injection.Sigv4("AKIAIOSFODNN7EXAMPLE", "us-east-1", "s3");

    /** The examples of AWS's documentation begin with these; they open nothing. */
    private static final String SUITE_KEY = "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY";

    private static final String S3_KEY = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY";

    @ParameterizedTest(name = "{0}")
    @CsvFileSource(
            resources = "/aws-signature-suite.csv",
            delimiter = '|',
            quoteCharacter = '`',
            emptyValue = "")
    void theSuiteIsSignedAsAwsDoes(
            String name, String method, String target, String signature, String more) {
        SortedMap<String, String> headers = headers(more);
        headers.put("host", "example.amazonaws.com");
        headers.put("x-amz-date", "20150830T123600Z");
        try (Secret key = Secret.ofText("key", SUITE_KEY)) {
            assertThat(
                            AwsSignature.authorization(
                                    SUITE,
                                    key,
                                    "20150830T123600Z",
                                    method,
                                    AwsTarget.plain(target),
                                    headers,
                                    EMPTY_HASH))
                    .as(name)
                    .isEqualTo(
                            "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/"
                                    + "aws4_request, SignedHeaders="
                                    + String.join(";", headers.keySet())
                                    + ", Signature="
                                    + signature);
        }
    }

    /** Name=value, with semicolons between them. */
    private static SortedMap<String, String> headers(String text) {
        SortedMap<String, String> headers = new TreeMap<>();
        for (String header : text.isEmpty() ? new String[0] : text.split(";", -1)) {
            int equals = header.indexOf('=');
            headers.put(header.substring(0, equals), header.substring(equals + 1));
        }
        return headers;
    }

    /** Amazon S3 API Reference, "Signature Calculations for the Authorization Header". */
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "GET|/test.txt|range=bytes=0-9|"
                        + "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41",
                "PUT|/test$file.text|date=Fri, 24 May 2013 00:00:00 GMT;"
                        + "x-amz-storage-class=REDUCED_REDUNDANCY|"
                        + "98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd",
                "GET|/?lifecycle||"
                        + "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543",
                "GET|/?max-keys=2&prefix=J||"
                        + "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7",
            })
    void theExamplesOfS3AreSignedAsAwsDoes(
            String method, String target, String more, String signature) {
        String payload =
                method.equals("PUT")
                        ? AwsSignature.hash(
                                "Welcome to Amazon S3."
                                        .getBytes(java.nio.charset.StandardCharsets.UTF_8))
                        : EMPTY_HASH;
        SortedMap<String, String> headers = headers(more == null ? "" : more);
        headers.put("host", "examplebucket.s3.amazonaws.com");
        headers.put("x-amz-date", "20130524T000000Z");
        headers.put("x-amz-content-sha256", payload);
        try (Secret key = Secret.ofText("key", S3_KEY)) {
            assertThat(
                            AwsSignature.authorization(
                                    S3,
                                    key,
                                    "20130524T000000Z",
                                    method,
                                    AwsTarget.plain(target),
                                    headers,
                                    payload))
                    .endsWith(", Signature=" + signature);
        }
    }

    @ParameterizedTest
    @CsvSource(
            quoteCharacter = '`',
            value = {
                "/a(b)*$%7e%2e%2f%zz,/a%28b%29*%24~.%2F%25zz",
                "/?a+b=c/d&e&&=f==,/?a%20b=c%2Fd&e&=f%3D%3D",
                "/k?X-Amz-Signature=1&x-amz-credential=2&X%2DAmz%2dDate=3&list-type=2,"
                        + "/k?list-type=2",
                "/k?X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Expires=9&X-Amz-SignedHeaders=host,/k",
                "*,*",
            })
    void whatIsSentHasOneForm(String target, String plain) {
        assertThat(AwsTarget.plain(target)).isEqualTo(plain);
        assertThat(AwsTarget.plain(plain)).as("and stays so").isEqualTo(plain);
    }
}
