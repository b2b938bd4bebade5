package dev.space.model.credential;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.space.model.SpaceException;
import dev.space.model.credential.CredentialMatch.None;
import dev.space.model.credential.CredentialMatch.Refused;
import dev.space.model.egress.EgressReason;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The wire form as both sides have it, and each refusal by name. */
final class CredentialGrantsTest {

    private static final String ID = "crd_" + "a".repeat(26);
    private static final String PROJECT = "prj_" + "b".repeat(26);
    private static final String GRANT =
            """
            {"credentialId":"%s","scope":"%s","version":3,"name":"api-key","hosts":[{"host":"*.example.com",\
            "ports":[8443]},{"host":"api.example.com"}],"methods":["GET"],"path":"/v1/*",\
            "injection":{"kind":"header","name":"authorization","prefix":"Bearer "},\
            "expires":1700000000,"sealed":"AAAA"}\
            """
                    .formatted(ID, PROJECT);

    @Test
    void theWireFormIsWhatTheContractSays() {
        String json = "[" + GRANT + "]";
        assertThat(CredentialGrants.parse(json).toJson()).isEqualTo(json);
        String use = CredentialGrants.parse(json).all().getFirst().use().toJson();
        assertThat(json).contains(use.substring(1, use.length() - 1));
        assertThat(CredentialGrants.parse("").toJson()).isEmpty();
        assertThat(CredentialGrants.parse("[]")).isEqualTo(CredentialGrants.NONE);
        assertThat(CredentialGrants.parse(json).all().getFirst().sealingContext())
                .isEqualTo("space-credential/1|" + PROJECT + "|" + ID + "|3|" + use);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            value = {
                "`\"version\":3`|`\"version\":0`|version: must be a whole number",
                "api-key|API|a credential's name has",
                "`\"sealed\":\"AAAA\"`|`\"sealed\":\"#\"`|not base64",
                "`\"sealed\":\"AAAA\"`|`\"vault\":{\"path\":\"../x\",\"version\":1}`|path and version",
                "`,\"sealed\":\"AAAA\"`|``|exactly one of sealed and vault",
                "authorization|Host|says how a message is carried",
                "`\"kind\":\"header\"`|`\"kind\":\"cookie\"`|one of header, basic",
                "*.example.com|10.0.0.1|an address is no name",
                "/v1/*|/v1/../*|a path begins",
                "expires|expiry|there is no such field",
                "`\"expires\"`|`\"limit\":{\"requests\":0,\"per\":\"minute\"},\"expires\"`|"
                        + "limit.requests: must be a whole number",
                "`\"expires\"`|`\"limit\":{\"requests\":1,\"per\":\"day\"},\"expires\"`|"
                        + "\"day\": must be one of second, minute",
                "`\"expires\"`|`\"limit\":{\"requests\":1},\"expires\"`|limit.per: is missing",
                "crd_|cre_|not a credential's id",
                "prj_|ses_|not the id of a project",
            })
    void aMistakeIsToldWithItsField(String what, String by, String why) {
        String json = "[" + GRANT.replace(what, by) + "]";
        assertThatThrownBy(() -> CredentialGrants.parse(json))
                .isInstanceOf(SpaceException.class)
                .hasMessageContaining("grants[0]")
                .hasMessageContaining(why);
    }

    @Test
    void aSessionHasBoundedGrantsOfDifferentNames() {
        String two = "[" + GRANT + "," + GRANT + "]";
        assertThatThrownBy(() -> CredentialGrants.parse(two)).hasMessageContaining("two grants");
        String many =
                IntStream.rangeClosed(0, CredentialGrants.GRANTS_MAX)
                        .mapToObj(i -> GRANT.replace("api-key", "k" + i))
                        .collect(Collectors.joining(",", "[", "]"));
        assertThatThrownBy(() -> CredentialGrants.parse(many)).hasMessageContaining("more than 64");
    }

    @Test
    void anExpiredGrantIsAsIfItWereNotThereButItsPlaceholderIsStillKnown() {
        CredentialGrants grants =
                CredentialGrants.parse(
                        "["
                                + GRANT.replaceAll(
                                        "\"injection\":\\{[^}]*}",
                                        "\"injection\":{\"kind\":\"placeholder\",\"text\":"
                                                + "\"PLACEHOLDER-1\"}")
                                + "]");
        long end = 1_700_000_000L;
        assertThat(grants.match("api.example.com", 443, "POST", "/", end - 1))
                .isEqualTo(new Refused(EgressReason.CREDENTIAL_NOT_GRANTED, "api-key"));
        CredentialMatch after = grants.match("api.example.com", 443, "GET", "/v1/x", end);
        assertThat(after).isEqualTo(new None());
        assertThat(grants.placeholdersBut(after)).containsExactly("PLACEHOLDER-1");
        assertThat(grants.match("10.0.0.1", 443, "GET", "/v1/x", 0)).isEqualTo(new None());
    }

    @Test
    void whatIsSealedDoesNotPrint() {
        assertThat(new Material.Sealed("c2VjcmV0").toString()).doesNotContain("c2VjcmV0");
    }
}
