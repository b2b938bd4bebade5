package dev.space.gateway.app;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.space.gatewayapi.GatewayErrors;
import dev.space.gatewayapi.v1.AcknowledgeRequest;
import dev.space.gatewayapi.v1.AddressesRequest;
import dev.space.gatewayapi.v1.Audit;
import dev.space.gatewayapi.v1.Event;
import dev.space.gatewayapi.v1.EventsRequest;
import dev.space.gatewayapi.v1.Kind;
import dev.space.gatewayapi.v1.ListRequest;
import dev.space.gatewayapi.v1.SyntheticAddress;
import dev.space.gatewayapi.v1.UnbindReply;
import dev.space.model.ErrorCode;
import dev.space.model.SpaceException;
import dev.space.model.egress.Ipv4;
import java.io.IOException;
import java.net.ConnectException;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.function.Predicate;
import java.util.stream.LongStream;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** What node-worker says and hears. */
@Timeout(60)
final class ControlTest {

    private static final String OTHER = "ses_bbbbbbbbbbbbbbbbbbbbbbbbbb";

    @TempDir Path directory;

    @SuppressWarnings("NullAway.Init") // set before every test
    private Rig rig;

    @SuppressWarnings("NullAway.Init") // set before every test
    private TestServer echo;

    @BeforeEach
    void start() throws IOException {
        rig = Rig.with(directory);
        rig.outsideDns.put("a.example", "127.0.0.1");
        echo = TestServer.echo();
    }

    @AfterEach
    void stop() {
        echo.close();
        rig.close();
    }

    private String policy() {
        return "{\"allow\":[{\"host\":\"a.example\",\"private\":true,\"ports\":["
                + echo.port()
                + "]}]}";
    }

    private static void roundTrip(Socket socket) throws IOException {
        socket.getOutputStream().write("ping".getBytes(UTF_8));
        assertThat(socket.getInputStream().readNBytes(4)).asString(UTF_8).isEqualTo("ping");
    }

    private static void refused(ErrorCode code, ThrowingCallable call) {
        assertThatThrownBy(call)
                .satisfies(e -> {
                    SpaceException failure = GatewayErrors.toException(e);
                    assertThat(failure.code()).as(failure.getMessage()).isEqualTo(code);
                });
    }

    @Test
    void anUnbindingEndsEverythingAndCountsIt() throws Exception {
        rig.bind(policy());
        int address = rig.resolve("a.example");
        Socket socket = rig.connectTo(address, echo.port());
        roundTrip(socket);
        assertThat(rig.ask("b.example", 1)[3] & 15).isEqualTo(5);
        UnbindReply drained = rig.unbind(1);
        OpaqueTest.assertReset(socket);
        assertThatThrownBy(() -> rig.connectTo(address, echo.port()))
                .as("nobody listens")
                .isInstanceOf(ConnectException.class);
        assertThat(drained.getTable().getAddressesList())
                .containsExactly(
                        SyntheticAddress.newBuilder()
                                .setName("a.example")
                                .setAddress(Ipv4.text(address))
                                .build());
        assertThat(drained.getCounters().getConnectionsAllowed()).isEqualTo(1);
        assertThat(drained.getCounters().getBytesUp()).isEqualTo(4);
        assertThat(drained.getCounters().getBytesDown()).isEqualTo(4);
        assertThat(drained.getCounters().getNamesRefused()).isEqualTo(1);
        assertThat(rig.unbind(1).getCounters().getBytesUp()).as("again: nothing").isZero();
        assertThat(rig.calls().list(ListRequest.getDefaultInstance()).getBindingsList()).isEmpty();
    }

    @Test
    void callsThatWereOvertakenChangeNothing() throws Exception {
        rig.bind(5, 7, policy());
        rig.bind(5, 7, policy());
        refused(ErrorCode.STALE_FENCE, () -> rig.bind(4, 9, policy()));
        refused(ErrorCode.STALE_FENCE, () -> rig.bind(5, 6, policy()));
        refused(ErrorCode.STALE_FENCE, () -> rig.calls().bind(Rig.request(OTHER, 9, 9, policy())));
        refused(ErrorCode.STALE_FENCE, () -> rig.unbind(4));
        refused(ErrorCode.INVALID_ARGUMENT, () -> rig.bind(5, 8, "{\"allow\":7}"));
        refused(
                ErrorCode.NOT_FOUND,
                () -> rig.calls().addresses(AddressesRequest.newBuilder().setSlot(900).build()));
        try (Socket socket = rig.connect("a.example", echo.port())) {
            roundTrip(socket);
        }
        var _ = rig.unbind(6);
        refused(ErrorCode.STALE_FENCE, () -> rig.bind(6, 9, policy()));
        rig.bind(7, 1, "{}");
        assertThat(rig.ask("a.example", 1)[3] & 15).isEqualTo(5);
    }

    @Test
    void aNewEpochIsAnotherSandbox() throws Exception {
        rig.bind(1, 1, policy());
        Socket former = rig.connect("a.example", echo.port());
        roundTrip(former);
        rig.bind(2, 1, policy());
        OpaqueTest.assertReset(former);
        try (Socket socket = rig.connect("a.example", echo.port())) {
            roundTrip(socket);
        }
    }

    @Test
    void anAddressOutlivesTheGateway() throws Exception {
        rig.bind(policy());
        int address = rig.resolve("a.example");
        Socket former = rig.connectTo(address, echo.port());
        rig.restart();
        OpaqueTest.assertReset(former);
        assertThatThrownBy(() -> rig.connectTo(address, echo.port()))
                .isInstanceOf(ConnectException.class);
        assertThat(rig.calls().list(ListRequest.getDefaultInstance()).getBindingsList()).isEmpty();
        SyntheticAddress kept =
                SyntheticAddress.newBuilder()
                        .setName("a.example")
                        .setAddress(Ipv4.text(address))
                        .build();
        rig.bind(1, 1, policy(), kept);
        try (Socket socket = rig.connectTo(address, echo.port())) {
            roundTrip(socket);
        }
        rig.restart();
        rig.bind(1, 1, policy());
        assertThat(rig.resolve("a.example")).as("without its table too").isEqualTo(address);
    }

    @Test
    void everythingIsWrittenDown() throws Exception {
        rig.bind(policy());
        try (Socket socket = rig.connect("a.example", echo.port())) {
            roundTrip(socket);
        }
        OpaqueTest.assertReset(rig.connectTo("203.0.113.9", 25));
        assertThat(rig.ask("b.example", 1)[3] & 15).isEqualTo(5);
        Iterator<Event> stream = rig.calls().events(EventsRequest.getDefaultInstance());
        List<Event> events = until(stream, e -> e.getAudit().getName().equals("b.example"));
        Event end = first(events, e -> e.getAudit().getEnded() && e.getAudit().getBytesUp() > 0);
        Audit raw = first(events, e -> e.getAudit().getPort() == 25).getAudit();
        Event address = first(events, Event::hasAddress);
        assertThat(end.getAudit().getVerdict()).isEqualTo("ALLOW");
        assertThat(end.getAudit().getRule()).isEqualTo("allow[0]");
        assertThat(end.getAudit().getKind()).isEqualTo(Kind.TCP);
        assertThat(end.getAudit().getAddress()).isEqualTo("127.0.0.1");
        assertThat(end.getSessionId()).isEqualTo(Rig.SESSION);
        assertThat(end.getEpoch()).isEqualTo(1);
        assertThat(raw.getReason()).isEqualTo("ADDRESS_NOT_ALLOWED");
        assertThat(raw.getAddress()).isEqualTo("203.0.113.9");
        assertThat(address.getAddress().getName()).isEqualTo("a.example");
        assertThat(events.stream().map(Event::getSequence).toList())
                .as("numbers without a hole")
                .isEqualTo(numbers(events.size()));

        long last = events.getLast().getSequence();
        var _ =
                rig.calls()
                        .acknowledge(
                                AcknowledgeRequest.newBuilder()
                                        .setIncarnation(end.getIncarnation())
                                        .setSequence(last - 1)
                                        .build());
        Event again = rig.calls().events(EventsRequest.getDefaultInstance()).next();
        assertThat(again.getSequence()).as("what was not acknowledged comes").isEqualTo(last);
    }

    private static List<Long> numbers(int size) {
        return LongStream.rangeClosed(1, size).boxed().toList();
    }

    private static List<Event> until(Iterator<Event> stream, Predicate<Event> last) {
        List<Event> events = new ArrayList<>();
        do {
            events.add(stream.next());
        } while (!last.test(events.getLast()));
        return events;
    }

    private static Event first(List<Event> events, Predicate<Event> which) {
        return events.stream().filter(which).findFirst().orElseThrow();
    }

    @Test
    void otherTypesAreEmptyAndNamesAreReadInAnyCase() throws Exception {
        rig.bind(policy());
        byte[] v6 = rig.ask("a.example", 28);
        assertThat(v6[3] & 15).as("NOERROR").isZero();
        assertThat(v6[7]).as("no record").isZero();
        assertThat(rig.resolve("A.Example")).isEqualTo(rig.resolve("a.example"));
        assertThat(Ipv4.text(rig.resolve("a.example"))).matches("198\\.1[89]\\..*");
        assertThat(rig.ask("a.b.example", 1)[3] & 15).isEqualTo(5);
        assertThat(rig.outsideDns.asked()).as("asked before anything connects").isEmpty();
    }

    @Test
    void limitsHold() throws Exception {
        String limited =
                policy().replaceFirst("\\}$", ",\"limits\":{\"connections\":2,\"bytes\":20}}");
        rig.bind(limited);
        Socket one = rig.connect("a.example", echo.port());
        roundTrip(one);
        try (Socket two = rig.connect("a.example", echo.port())) {
            roundTrip(two);
            OpaqueTest.assertReset(rig.connect("a.example", echo.port()));
        }
        one.getOutputStream().write("too much".getBytes(UTF_8));
        OpaqueTest.assertReset(one);
        OpaqueTest.assertReset(rig.connect("a.example", echo.port()));
    }

    @Test
    void metricsHaveNoNames() throws Exception {
        rig.bind(policy());
        assertThat(rig.ask("secret-name.example", 1)[3] & 15).isEqualTo(5);
        assertThat(get("/health/ready")).contains("UP");
        assertThat(get("/metrics"))
                .contains("space_gateway_refused_total{reason=\"NAME_NOT_ALLOWED\"} 1.0")
                .contains("space_gateway_slots 1.0")
                .doesNotContain("secret-name");
    }

    private String get(String path) throws Exception {
        try (HttpClient client = HttpClient.newHttpClient()) {
            URI uri = URI.create("http://127.0.0.1:" + rig.httpPort() + path);
            return client.send(
                            HttpRequest.newBuilder(uri).build(),
                            HttpResponse.BodyHandlers.ofString())
                    .body();
        }
    }
}
