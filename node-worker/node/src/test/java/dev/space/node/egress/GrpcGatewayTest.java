package dev.space.node.egress;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;

import dev.space.gatewayapi.v1.Audit;
import dev.space.gatewayapi.v1.Event;
import dev.space.gatewayapi.v1.Kind;
import dev.space.model.Ids;
import dev.space.model.SessionId;
import org.junit.jupiter.api.Test;

final class GrpcGatewayTest {

    private static final SessionId ONE =
            new SessionId(Ids.text("ses", "aaaaaaaaaaaaaaaa".getBytes(US_ASCII)));

    private static EgressRecord record(Audit.Builder audit) {
        return GrpcGateway.entry(ONE, Event.newBuilder().setEpoch(3).setAudit(audit).build());
    }

    @Test
    void theUseOfACredentialNamesItAndNothingElseOfIt() {
        EgressRecord used =
                record(
                        Audit.newBuilder()
                                .setKind(Kind.CREDENTIAL)
                                .setVerdict("ALLOW")
                                .setName("api.example")
                                .setPort(443)
                                .setMethod("GET")
                                .setReason("ALLOWED")
                                .setCredential("crd_x"));
        assertThat(used)
                .isEqualTo(
                        new EgressRecord(
                                ONE,
                                3,
                                "credential",
                                "allow",
                                "api.example:443",
                                "allowed GET credential crd_x"));
    }

    @Test
    void theEndOfAConnectionTellsItsBytes() {
        EgressRecord ended =
                record(
                        Audit.newBuilder()
                                .setKind(Kind.TCP)
                                .setVerdict("DRY_RUN_DENY")
                                .setAddress("192.0.2.1")
                                .setPort(5432)
                                .setReason("NO_RULE")
                                .setEnded(true)
                                .setBytesUp(1)
                                .setBytesDown(2)
                                .setDurationMillis(3));
        assertThat(ended.verdict()).isEqualTo("dry-run-deny");
        assertThat(ended.target()).isEqualTo("192.0.2.1:5432");
        assertThat(ended.detail()).isEqualTo("no_rule ended, 1 bytes up, 2 down, 3 ms");
    }
}
