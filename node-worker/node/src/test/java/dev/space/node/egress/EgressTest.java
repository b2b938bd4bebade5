package dev.space.node.egress;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.space.model.Ids;
import dev.space.model.SessionId;
import dev.space.model.SpaceException;
import dev.space.nodeapi.v1.Report;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What the gateway is told, whatever happens to it, to this process and to the control plane. */
class EgressTest {

    private static final SessionId ONE = new SessionId(Ids.text("ses", new byte[16]));
    private static final SyntheticAddress NAME = new SyntheticAddress("a.example", "198.18.0.7");

    @TempDir Path directory;
    private final FakeGateway gateway = new FakeGateway();
    private final Map<SessionId, NetworkPolicy> policies = new ConcurrentHashMap<>();
    private final List<Report> reports = Collections.synchronizedList(new ArrayList<>());
    private volatile boolean controlAway;
    private Egress egress = made();

    private Egress made() {
        return Egress.of(
                gateway,
                session -> {
                    if (controlAway) {
                        throw new IllegalStateException("the control plane is away");
                    }
                    return policies.getOrDefault(session, NetworkPolicy.NONE);
                },
                (report, _) -> reports.add(report.build()));
    }

    @AfterEach
    void close() {
        egress.closed(ONE); // no file of it is written any more
        egress.close();
    }

    @Test
    void aStartReturnsWithItsBindingAndTheEndTakesItBack() {
        policies.put(ONE, new NetworkPolicy(3, "{}"));
        egress.opening(ONE, 1, 5, List.of(NAME), false).done(directory);
        assertThat(gateway.binding(5))
                .isEqualTo(
                        new Gateway.Binding(5, ONE, 1, new NetworkPolicy(3, "{}"), List.of(NAME)));
        egress.closed(ONE);
        egress.closed(ONE);
        assertThat(gateway.calls).containsExactly("bind 5 v3", "unbind 5");
    }

    @Test
    void aSessionWithoutAPolicyCostsTheGatewayNothing() {
        egress.opening(ONE, 1, 5, List.of(), false).done(directory);
        assertThat(egress.addresses(ONE)).isEmpty();
        egress.closed(ONE);
        assertThat(gateway.calls).isEmpty();
        assertThat(directory).isEmptyDirectory();
    }

    @Test
    void aSessionThatIsSaidToHaveNoPolicyIsNotAskedFor() {
        policies.put(ONE, new NetworkPolicy(1, "{}")); // set while it was started
        controlAway = true;
        egress.opening(ONE, 1, 5, List.of(), true).done(directory);
        assertThat(gateway.calls).isEmpty();
        controlAway = false;
        egress.newest(ONE, 0);
        egress.newest(ONE, 1);
        await(() -> gateway.binding(5) != null);
    }

    @Test
    void aStartDoesNotWaitForASlowGatewayNorForOneThatIsAway() {
        policies.put(ONE, new NetworkPolicy(1, "{}"));
        gateway.slow(5_000);
        long began = System.nanoTime();
        egress.opening(ONE, 1, 5, List.of(), false).done(directory);
        // The wait itself is 200 ms; the rest is for a busy machine.
        assertThat(Duration.ofNanos(System.nanoTime() - began)).isLessThan(Duration.ofSeconds(3));
    }

    @Test
    void whatCouldNotBeToldIsToldWhenTheGatewayIsBack() {
        policies.put(ONE, new NetworkPolicy(1, "{}"));
        gateway.kill();
        egress.start();
        egress.opening(ONE, 1, 5, List.of(), false).done(directory);
        assertThat(gateway.binding(5)).isNull();
        gateway.startAnew();
        await(() -> gateway.binding(5) != null);
    }

    @Test
    void aGatewayThatIsStartedAnewIsToldAgainAndStrangersAreRemoved() {
        policies.put(ONE, new NetworkPolicy(1, "{}"));
        egress.start();
        egress.opening(ONE, 1, 5, List.of(NAME), false).done(directory);
        await(egress::isConnected);
        gateway.kill();
        SessionId stranger = new SessionId(Ids.text("ses", "aaaaaaaaaaaaaaaa".getBytes(US_ASCII)));
        gateway.startAnewWith(
                new Gateway.Binding(9, stranger, 1, new NetworkPolicy(1, "{}"), List.of()));
        await(() -> gateway.binding(5) != null && gateway.binding(9) == null);
        assertThat(bound().addresses()).containsExactly(NAME);
    }

    @Test
    void aBindWhoseAnswerWasLostIsUndoneAtTheEnd() {
        policies.put(ONE, new NetworkPolicy(1, "{}"));
        gateway.losesAnswers(true);
        egress.opening(ONE, 1, 5, List.of(), false).done(directory);
        assertThat(gateway.binding(5)).isNotNull();
        egress.closed(ONE);
        assertThat(gateway.binding(5)).isNull();
    }

    @Test
    void whoeverIsStillBoundToTheSlotIsUnboundFirst() {
        SessionId before = new SessionId(Ids.text("ses", "bbbbbbbbbbbbbbbb".getBytes(US_ASCII)));
        gateway.bind(new Gateway.Binding(5, before, 9, new NetworkPolicy(1, "{}"), List.of()));
        policies.put(ONE, new NetworkPolicy(1, "{}"));
        egress.opening(ONE, 1, 5, List.of(), false).done(directory);
        assertThat(bound().session()).isEqualTo(ONE);
    }

    @Test
    void changesArePushedInOrderAndNoneMeansUnbound() {
        egress.opening(ONE, 2, 5, List.of(), false).done(directory);
        egress.set(ONE, 2, new NetworkPolicy(4, "{\"allow\":[]}"));
        assertThat(bound().policy().version()).isEqualTo(4);
        egress.set(ONE, 2, new NetworkPolicy(3, "{\"dryRun\":true}"));
        assertThat(bound().policy().version()).isEqualTo(4);
        egress.set(ONE, 2, new NetworkPolicy(5, ""));
        assertThat(gateway.binding(5)).isNull();
        assertThatThrownBy(() -> egress.set(ONE, 1, new NetworkPolicy(9, "{}")))
                .isInstanceOf(SpaceException.class)
                .hasMessageContaining("epoch 1");
    }

    @Test
    void withoutTheControlPlanesWordAStartOpensNothing() {
        policies.put(ONE, new NetworkPolicy(1, "{}"));
        controlAway = true;
        egress.start();
        egress.opening(ONE, 1, 5, List.of(), false).done(directory);
        assertThat(gateway.binding(5)).isNull();
        controlAway = false;
        await(() -> gateway.binding(5) != null);
    }

    @Test
    void aNewerVersionThatTheLeaseTellsIsFetched() {
        egress.opening(ONE, 1, 5, List.of(), false).done(directory);
        policies.put(ONE, new NetworkPolicy(2, "{}"));
        egress.newest(ONE, 0);
        egress.newest(ONE, 2);
        await(() -> gateway.binding(5) != null);
    }

    @Test
    void aRestartOfThisProcessGoesOnWithWhatTheSandboxHadEvenAlone() {
        policies.put(ONE, new NetworkPolicy(7, "{}", "[sealed]"));
        egress.opening(ONE, 1, 5, List.of(NAME), false).done(directory);
        await(() -> Files.isRegularFile(directory.resolve("network.json")));
        egress.close();
        gateway.kill();
        gateway.startAnew();
        controlAway = true;
        egress = made();
        egress.adopted(ONE, 1, 5, directory);
        egress.start();
        await(() -> gateway.binding(5) != null);
        assertThat(bound().policy()).isEqualTo(new NetworkPolicy(7, "{}", "[sealed]"));
        assertThat(bound().addresses()).containsExactly(NAME);
    }

    @Test
    void whatAnEarlierEpochHadIsNotBelieved() {
        policies.put(ONE, new NetworkPolicy(1, "{\"dryRun\":true}"));
        egress.opening(ONE, 1, 5, List.of(), false).done(directory);
        await(() -> Files.isRegularFile(directory.resolve("network.json")));
        policies.put(ONE, new NetworkPolicy(2, "{}"));
        egress.adopted(ONE, 2, 6, directory);
        await(() -> gateway.binding(6) != null);
        assertThat(java.util.Objects.requireNonNull(gateway.binding(6)).policy().version())
                .isEqualTo(2);
    }

    @Test
    void aFileOfAReleaseWithoutCredentialsIsRead() throws Exception {
        String old = "{\"epoch\":1,\"policy\":{\"version\":3,\"json\":\"{}\"},\"addresses\":[]}";
        Files.writeString(directory.resolve("network.json"), old);
        controlAway = true;
        egress.adopted(ONE, 1, 5, directory);
        await(() -> gateway.binding(5) != null);
        assertThat(bound().policy()).isEqualTo(new NetworkPolicy(3, "{}", ""));
    }

    @Test
    void aDamagedFileIsNotBelieved() throws Exception {
        Files.writeString(directory.resolve("network.json"), "{\"policy\":");
        policies.put(ONE, new NetworkPolicy(2, "{}"));
        egress.adopted(ONE, 1, 5, directory);
        await(() -> gateway.binding(5) != null);
        assertThat(bound().policy().version()).isEqualTo(2);
    }

    @Test
    void theNamesOfASnapshotAreTheGatewaysAndWhatIsKnownWhenItIsAway() {
        policies.put(ONE, new NetworkPolicy(1, "{}"));
        egress.opening(ONE, 1, 5, List.of(NAME), false).done(directory);
        SyntheticAddress second = new SyntheticAddress("b.example", "198.18.0.8");
        gateway.handsOut(5, second);
        assertThat(egress.addresses(ONE)).containsExactly(NAME, second);
        gateway.kill();
        assertThat(egress.addresses(ONE)).containsExactly(NAME, second);
    }

    @Test
    void recordsArePassedOnUpToANumberForEachMinuteAndTheRestIsCounted() {
        long[] now = {0};
        EgressAudit audit =
                new EgressAudit((report, _) -> reports.add(report.build()), () -> now[0]);
        EgressRecord entry = new EgressRecord(ONE, 4, "tls", "deny", "x.example:443", "no_rule");
        for (int i = 0; i < EgressAudit.PER_MINUTE_MAX + 30; i++) {
            audit.add(entry);
        }
        assertThat(reports).hasSize(EgressAudit.PER_MINUTE_MAX);
        assertThat(reports.getFirst().getAudit().getAction()).isEqualTo("egress.tls");
        assertThat(reports.getFirst().getAudit().getObject()).isEqualTo("x.example:443");
        assertThat(reports.getFirst().getAudit().getDetail()).isEqualTo("no_rule");
        now[0] = 60_000_000_000L;
        audit.add(entry);
        assertThat(reports.get(EgressAudit.PER_MINUTE_MAX).getAudit().getObject())
                .isEqualTo("30 records left out");
        assertThat(reports).hasSize(EgressAudit.PER_MINUTE_MAX + 2);
    }

    @Test
    void theGatewaysRecordsReachTheOutbox() {
        egress.start();
        await(egress::isConnected);
        gateway.tell(new EgressRecord(ONE, 4, "dns", "deny", "x.example", "no_rule"));
        await(() -> !reports.isEmpty());
        assertThat(reports.getFirst().getAudit().getOutcome()).isEqualTo("deny");
    }

    private Gateway.Binding bound() {
        return java.util.Objects.requireNonNull(gateway.binding(5));
    }

    private static void await(BooleanSupplier condition) {
        long deadline = System.nanoTime() + Duration.ofSeconds(20).toNanos();
        while (!condition.getAsBoolean()) {
            assertThat(System.nanoTime()).as("in time").isLessThan(deadline);
            java.util.concurrent.locks.LockSupport.parkNanos(2_000_000);
        }
    }
}
