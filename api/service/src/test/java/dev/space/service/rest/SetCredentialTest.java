package dev.space.service.rest;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What is refused of a credential before anything is stored. */
final class SetCredentialTest {

    private static final String HOSTS = "[{\"host\":\"a.com\"}]";
    private static final String BEARER = "{\"kind\":\"header\",\"name\":\"x\",\"prefix\":\"B \"}";

    private static JsonNode json(String text) {
        try {
            return new ObjectMapper().readTree(text);
        } catch (JsonProcessingException e) {
            throw new IllegalArgumentException(e);
        }
    }

    private static SetCredential of(String value, String hosts, String injection, String owner) {
        return new SetCredential(
                null,
                value,
                null,
                json(hosts),
                null,
                null,
                json(injection),
                null,
                owner,
                null,
                null);
    }

    private static void check(SetCredential credential) {
        credential.checkedSecret("n", credential.checkedUse()).close();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "+999999-01-01T00:00:00Z",
                "+1000000000-12-31T23:59:59Z",
                "-1000000000-01-01T00:00:00Z",
                "1969-12-31T23:59:59Z"
            })
    void timesThatNoDatabaseTakes(String time) {
        assertThatThrownBy(() -> SetCredential.time("expires", time))
                .hasMessageContaining("expires is a time of the years 1970 to 9999");
        assertThat(SetCredential.time("expires", "9999-12-31T23:59:59Z")).isNotNull();
    }

    @Test
    void aSecretIsNowhereElse() {
        check(of("12345678", HOSTS, BEARER, "me"));
        String placeholder = "{\"kind\":\"placeholder\",\"text\":\"S-12345678-S\"}";
        assertThatThrownBy(() -> check(of("12345678", HOSTS, placeholder, "me")))
                .hasMessageContaining("also in another field")
                .hasMessageNotContaining("12345678");
        assertThatThrownBy(() -> check(of("12345678", HOSTS, BEARER, "it is 12345678")))
                .hasMessageContaining("also in another field");
    }

    @Test
    void whatCouldNeverBeUsed() {
        String plain = "[{\"host\":\"a.com\",\"ports\":[443,80]}]";
        assertThatThrownBy(() -> check(of("12345678", plain, BEARER, "me")))
                .hasMessageContaining("port 80");
        for (String value : new String[] {" 12345678", "12345678 ", "         "}) {
            assertThatThrownBy(() -> check(of(value, HOSTS, BEARER, "me")))
                    .hasMessageContaining("blank");
        }
    }

    @Test
    void aSecretOfSeveralPartsHasThem() {
        String refresh =
                "{\"kind\":\"oauth2\",\"grant\":\"refresh_token\",\"clientId\":\"me\","
                        + "\"tokenUrl\":\"https://l.example/t\"}";
        String client = refresh.replace("refresh_token", "client_credentials");
        check(of("refresh-1", HOSTS, refresh, "me"));
        check(of("refresh-1\nclient-secret", HOSTS, refresh, "me"));
        check(of("client-secret", HOSTS, client, "me"));
        for (String value : new String[] {"refresh-1\n\nx", "refresh-1\na\nb", "refresh-1\n "}) {
            assertThatThrownBy(() -> check(of(value, HOSTS, refresh, "me")))
                    .hasMessageNotContaining("refresh-1");
        }
        assertThatThrownBy(() -> check(of("client\nsecret", HOSTS, client, "me")))
                .hasMessageContaining("control character");
        assertThatThrownBy(() -> check(of("refresh\u0001x", HOSTS, refresh, "me")))
                .hasMessageContaining("control character");
    }

    @Test
    void aKeyThatCannotSignIsToldBeforeItIsKept() {
        String jwt = "{\"kind\":\"jwt\",\"algorithm\":\"RS256\",\"issuer\":\"12345\"}";
        assertThatThrownBy(() -> check(of("secret-that-is-no-key", HOSTS, jwt, "me")))
                .hasMessageContaining("no private key (PEM)")
                .hasMessageNotContaining("secret-that");
    }

    @Test
    void anEmptyListIsNotEverything() {
        String none = "[{\"host\":\"a.com\",\"ports\":[]}]";
        assertThatThrownBy(() -> check(of("12345678", none, BEARER, "me")))
                .hasMessageContaining("ports: is empty");
    }
}
