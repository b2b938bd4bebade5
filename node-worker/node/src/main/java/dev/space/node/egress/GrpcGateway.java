package dev.space.node.egress;

import dev.space.gatewayapi.GatewayChannel;
import dev.space.gatewayapi.v1.AcknowledgeRequest;
import dev.space.gatewayapi.v1.AddressTable;
import dev.space.gatewayapi.v1.AddressesRequest;
import dev.space.gatewayapi.v1.Audit;
import dev.space.gatewayapi.v1.BindRequest;
import dev.space.gatewayapi.v1.Event;
import dev.space.gatewayapi.v1.EventsRequest;
import dev.space.gatewayapi.v1.GatewayGrpc;
import dev.space.gatewayapi.v1.ListRequest;
import dev.space.gatewayapi.v1.UnbindRequest;
import dev.space.model.Ids;
import dev.space.model.SessionId;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Iterator;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** The gateway over its unix socket. */
public final class GrpcGateway implements Gateway {

    private static final Duration CALL = Duration.ofSeconds(2);

    /** More than the gateway needs to drain a slot. */
    private static final Duration UNBIND = Duration.ofSeconds(4);

    /** While a snapshot is made, somebody waits. */
    private static final Duration ADDRESSES = Duration.ofMillis(500);

    /** Events that are acknowledged together. */
    private static final int ACKNOWLEDGE_EVERY = 64;

    private final GatewayChannel channel;

    public GrpcGateway(Path socket) {
        this.channel = GatewayChannel.open(socket);
    }

    private GatewayGrpc.GatewayBlockingStub stub(Duration limit) {
        return GatewayGrpc.newBlockingStub(channel.channel())
                .withDeadlineAfter(limit.toMillis(), TimeUnit.MILLISECONDS);
    }

    @Override
    public void bind(Binding binding) {
        BindRequest.Builder request =
                BindRequest.newBuilder()
                        .setBinding(
                                dev.space.gatewayapi.v1.Binding.newBuilder()
                                        .setSlot(binding.slot())
                                        .setSessionId(binding.session().value())
                                        .setEpoch(binding.epoch())
                                        .setPolicyVersion(binding.policy().version()))
                        .setPolicyJson(binding.policy().json())
                        .setGrantsJson(binding.policy().grants());
        for (SyntheticAddress known : binding.addresses()) {
            request.addAddresses(
                    dev.space.gatewayapi.v1.SyntheticAddress.newBuilder()
                            .setName(known.name())
                            .setAddress(known.address()));
        }
        var _ = stub(CALL).bind(request.build());
    }

    @Override
    public List<SyntheticAddress> unbind(int slot, SessionId session, long epoch) {
        return table(
                stub(UNBIND)
                        .unbind(
                                UnbindRequest.newBuilder()
                                        .setSlot(slot)
                                        .setSessionId(session.value())
                                        .setEpoch(epoch)
                                        .build())
                        .getTable());
    }

    @Override
    public List<Bound> list() {
        return stub(CALL).list(ListRequest.getDefaultInstance()).getBindingsList().stream()
                .map(b ->
                        new Bound(
                                b.getSlot(),
                                new SessionId(b.getSessionId()),
                                b.getEpoch(),
                                b.getPolicyVersion()))
                .toList();
    }

    @Override
    public List<SyntheticAddress> addresses(int slot) {
        return table(
                stub(ADDRESSES).addresses(AddressesRequest.newBuilder().setSlot(slot).build()));
    }

    private static List<SyntheticAddress> table(AddressTable table) {
        return table.getAddressesList().stream()
                .map(a -> new SyntheticAddress(a.getName(), a.getAddress()))
                .toList();
    }

    @Override
    public void follow(Events events) {
        channel.channel().resetConnectBackoff();
        GatewayGrpc.GatewayBlockingStub endless = GatewayGrpc.newBlockingStub(channel.channel());
        // Proves that somebody is there before the stream, whose first event may be far away.
        events.connected();
        Iterator<Event> stream = endless.events(EventsRequest.getDefaultInstance());
        int owed = 0;
        while (stream.hasNext()) {
            Event event = stream.next();
            pass(event, events);
            if (++owed >= ACKNOWLEDGE_EVERY || !event.hasAudit()) {
                acknowledge(event);
                owed = 0;
            }
        }
    }

    private void acknowledge(Event event) {
        var _ =
                stub(CALL)
                        .acknowledge(
                                AcknowledgeRequest.newBuilder()
                                        .setIncarnation(event.getIncarnation())
                                        .setSequence(event.getSequence())
                                        .build());
    }

    private static void pass(Event event, Events events) {
        if (!Ids.isValid(SessionId.PREFIX, event.getSessionId())) {
            return; // a gap of the whole gateway, which its own figures count
        }
        SessionId session = new SessionId(event.getSessionId());
        switch (event.getWhatCase()) {
            case ADDRESS ->
                    events.address(
                            session,
                            event.getEpoch(),
                            new SyntheticAddress(
                                    event.getAddress().getName(), event.getAddress().getAddress()));
            case AUDIT -> events.audit(entry(session, event));
            case GAP -> events.audit(gap(session, event));
            case WHAT_NOT_SET -> {}
        }
    }

    private static EgressRecord gap(SessionId session, Event event) {
        String count = event.getGap().getRecords() + " records left out";
        return new EgressRecord(session, event.getEpoch(), "gap", "gap", count, "too many");
    }

    static EgressRecord entry(SessionId session, Event event) {
        Audit audit = event.getAudit();
        String name = audit.getName().isEmpty() ? audit.getAddress() : audit.getName();
        return new EgressRecord(
                session,
                event.getEpoch(),
                audit.getKind().name().toLowerCase(Locale.ROOT),
                audit.getVerdict().toLowerCase(Locale.ROOT).replace('_', '-'),
                audit.getPort() == 0 ? name : name + ":" + audit.getPort(),
                detail(audit));
    }

    private static String detail(Audit audit) {
        boolean named = !audit.getName().isEmpty() && !audit.getAddress().isEmpty();
        return Stream.of(
                        audit.getReason().toLowerCase(Locale.ROOT),
                        audit.getRule(),
                        audit.getMethod(),
                        audit.getCredential().isEmpty()
                                ? ""
                                : "credential " + audit.getCredential(),
                        named ? "at " + audit.getAddress() : "",
                        audit.getEnded()
                                ? "ended, %d bytes up, %d down, %d ms"
                                        .formatted(
                                                audit.getBytesUp(),
                                                audit.getBytesDown(),
                                                audit.getDurationMillis())
                                : "")
                .filter(part -> !part.isEmpty())
                .collect(Collectors.joining(" "));
    }

    @Override
    public void close() {
        channel.close();
    }
}
