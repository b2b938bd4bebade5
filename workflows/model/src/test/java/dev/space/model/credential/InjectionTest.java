package dev.space.model.credential;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.space.model.SpaceException;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Each way of injection by its name, as it is written and read, and what is refused of it. */
final class InjectionTest {

    private static final Map<String, String> SAMPLES =
            Map.of(
                    "header", "{'kind':'header','name':'x-key','prefix':'k '}",
                    "basic", "{'kind':'basic','user':'me'}",
                    "query", "{'kind':'query','name':'key'}",
                    "placeholder", "{'kind':'placeholder','text':'PLACEHOLDER-1'}",
                    "sigv4",
                            "{'kind':'sigv4','accessKeyId':'AKIDEXAMPLE',"
                                    + "'region':'eu-central-1','service':'s3'}",
                    "oauth2",
                            "{'kind':'oauth2','grant':'client_credentials',"
                                    + "'tokenUrl':'https://login.example/token','clientId':'me',"
                                    + "'scope':'read','clientAuth':'body'}",
                    "jwt",
                            "{'kind':'jwt','algorithm':'RS256','issuer':'me','keyId':'k',"
                                    + "'tokenUrl':'https://login.example:8443/token'}");

    private static CredentialUse use(String injection) {
        return CredentialUse.parse(
                "{\"hosts\":[{\"host\":\"a.example\"}],\"injection\":"
                        + injection.replace('\'', '"')
                        + "}");
    }

    private static String sample(String kind) {
        return Objects.requireNonNull(SAMPLES.get(kind), kind);
    }

    @Test
    void theTableOfKindsIsWhole() {
        assertThat(Injection.KINDS)
                .hasSameSizeAs(List.of(Injection.class.getPermittedSubclasses()))
                .containsExactlyInAnyOrderElementsOf(SAMPLES.keySet());
        List<Class<?>> seen =
                Injection.KINDS.stream()
                        .<Class<?>>map(kind -> use(sample(kind)).injection().getClass())
                        .toList();
        assertThat(seen)
                .containsExactlyInAnyOrderElementsOf(
                        Arrays.asList(Injection.class.getPermittedSubclasses()));
    }

    @Test
    void eachKindIsWrittenAsItIsRead() {
        for (String kind : Injection.KINDS) {
            CredentialUse use = use(sample(kind));
            assertThat(use.injection().kind()).isEqualTo(kind);
            assertThat(use.toJson()).contains(sample(kind).replace('\'', '"'));
        }
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            value = {
                "{'kind':'cookie'} | kind: must be one of header, basic, query, placeholder, sigv4,"
                        + " oauth2, jwt",
                "{'kind':'oauth2','grant':'password','tokenUrl':'https://a.b/t','clientId':'c'} |"
                        + " must be one of client_credentials, refresh_token",
                "{'kind':'oauth2','grant':'refresh_token','tokenUrl':'http://a.b/t',"
                        + "'clientId':'c'} |"
                        + " a token's URL is such as https://",
                "{'kind':'oauth2','grant':'refresh_token','tokenUrl':'https://u@a.b/t',"
                        + "'clientId':'c'} | a token's URL is such as https://",
                "{'kind':'oauth2','grant':'refresh_token','tokenUrl':'https://10.0.0.1/t',"
                        + "'clientId':'c'} | an address is no name",
                "{'kind':'oauth2','grant':'refresh_token','tokenUrl':'https://a.b:70000/t',"
                        + "'clientId':'c'} | a port is a number",
                "{'kind':'oauth2','grant':'refresh_token','tokenUrl':'https://a.b/t'} |"
                        + " clientId: is missing",
                "{'kind':'oauth2','grant':'refresh_token','tokenUrl':'https://a.b/t',"
                        + "'clientId':'c','clientAuth':'none'} | clientAuth: must be basic or body",
                "{'kind':'jwt','algorithm':'none','issuer':'i'} | must be one of RS256, ES256",
                "{'kind':'jwt','algorithm':'RS256'} | issuer: is missing",
                "{'kind':'jwt','algorithm':'RS256','issuer':'i','claims':'x'} |"
                        + " claims: there is no such field",
                "{'kind':'sigv4','region':'r','service':'s3'} | accessKeyId: is missing",
                "{'kind':'sigv4','accessKeyId':'A','region':'r','service':'s3'} | key's id has 3",
                "{'kind':'sigv4','accessKeyId':'AKID','region':'EU','service':'s3'} | a region",
                "{'kind':'sigv4','accessKeyId':'AKID','region':'r','service':'s/3'} | a service",
                "{'kind':'sigv4','accessKeyId':'AKID','region':'r','service':'s3','user':'x'} |"
                        + " user: there is no such field",
            })
    void aMistakeIsTold(String injection, String why) {
        assertThatThrownBy(() -> use(injection))
                .isInstanceOf(SpaceException.class)
                .hasMessageContaining("credential.injection")
                .hasMessageContaining(why);
    }
}
