package dev.space.gateway.control;

import dev.space.gateway.events.EventQueue;
import dev.space.gateway.slot.Binding;
import dev.space.gateway.slot.SlotTable;
import dev.space.gatewayapi.GatewayErrors;
import dev.space.gatewayapi.v1.AcknowledgeReply;
import dev.space.gatewayapi.v1.AcknowledgeRequest;
import dev.space.gatewayapi.v1.AddressTable;
import dev.space.gatewayapi.v1.AddressesRequest;
import dev.space.gatewayapi.v1.BindReply;
import dev.space.gatewayapi.v1.BindRequest;
import dev.space.gatewayapi.v1.Event;
import dev.space.gatewayapi.v1.EventsRequest;
import dev.space.gatewayapi.v1.GatewayGrpc;
import dev.space.gatewayapi.v1.ListReply;
import dev.space.gatewayapi.v1.ListRequest;
import dev.space.gatewayapi.v1.SyntheticAddress;
import dev.space.gatewayapi.v1.UnbindReply;
import dev.space.gatewayapi.v1.UnbindRequest;
import dev.space.model.ErrorCode;
import dev.space.model.SessionId;
import dev.space.model.SpaceException;
import dev.space.model.credential.CredentialGrants;
import dev.space.model.egress.EgressPolicy;
import dev.space.model.egress.HostName;
import dev.space.model.egress.Ipv4;
import io.grpc.stub.ServerCallStreamObserver;
import io.grpc.stub.StreamObserver;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The calls of node-worker. */
public final class ControlService extends GatewayGrpc.GatewayImplBase {

    private static final Logger LOG = LoggerFactory.getLogger(ControlService.class);

    private final SlotTable slots;
    private final EventQueue events;
    private final EventStreams streams;

    public ControlService(SlotTable slots, EventQueue events) {
        this.slots = slots;
        this.events = events;
        this.streams = new EventStreams(events);
    }

    @Override
    public void bind(BindRequest request, StreamObserver<BindReply> observer) {
        answer(
                observer,
                () -> {
                    slots.bind(binding(request));
                    return BindReply.newBuilder().setIncarnation(events.incarnation()).build();
                });
    }

    private static Binding binding(BindRequest request) {
        dev.space.gatewayapi.v1.Binding b = request.getBinding();
        Map<String, Integer> names = new LinkedHashMap<>();
        try {
            SessionId session = new SessionId(b.getSessionId());
            for (SyntheticAddress a : request.getAddressesList()) {
                names.put(HostName.of(a.getName()), Ipv4.parse(a.getAddress()));
            }
            return new Binding(
                    b.getSlot(),
                    session.value(),
                    b.getEpoch(),
                    b.getPolicyVersion(),
                    EgressPolicy.parse(request.getPolicyJson()),
                    CredentialGrants.parse(request.getGrantsJson()),
                    names);
        } catch (IllegalArgumentException e) {
            throw new SpaceException(ErrorCode.INVALID_ARGUMENT, String.valueOf(e.getMessage()), e);
        }
    }

    @Override
    public void unbind(UnbindRequest request, StreamObserver<UnbindReply> observer) {
        answer(
                observer,
                () -> {
                    SlotTable.Drained drained =
                            slots.unbind(
                                    request.getSlot(), request.getSessionId(), request.getEpoch());
                    return UnbindReply.newBuilder()
                            .setTable(table(drained.names()))
                            .setCounters(drained.counters())
                            .build();
                });
    }

    @Override
    public void list(ListRequest request, StreamObserver<ListReply> observer) {
        answer(
                observer,
                () -> {
                    ListReply.Builder reply =
                            ListReply.newBuilder().setIncarnation(events.incarnation());
                    for (Binding b : slots.list()) {
                        reply.addBindings(
                                dev.space.gatewayapi.v1.Binding.newBuilder()
                                        .setSlot(b.slot())
                                        .setSessionId(b.session())
                                        .setEpoch(b.epoch())
                                        .setPolicyVersion(b.policyVersion()));
                    }
                    return reply.build();
                });
    }

    @Override
    public void addresses(AddressesRequest request, StreamObserver<AddressTable> observer) {
        answer(observer, () -> table(slots.names(request.getSlot())));
    }

    private static AddressTable table(Map<String, Integer> names) {
        AddressTable.Builder table = AddressTable.newBuilder();
        names.forEach((name, address) ->
                table.addAddresses(
                        SyntheticAddress.newBuilder()
                                .setName(name)
                                .setAddress(Ipv4.text(address))));
        return table.build();
    }

    @Override
    public void events(EventsRequest request, StreamObserver<Event> observer) {
        streams.open((ServerCallStreamObserver<Event>) observer);
    }

    @Override
    public void acknowledge(AcknowledgeRequest request, StreamObserver<AcknowledgeReply> observer) {
        answer(
                observer,
                () -> {
                    if (request.getIncarnation().equals(events.incarnation())) {
                        events.acknowledge(request.getSequence());
                    }
                    return AcknowledgeReply.getDefaultInstance();
                });
    }

    /** Every call gets its answer; only defects are logged. */
    private static <T> void answer(StreamObserver<T> observer, Supplier<T> call) {
        T reply;
        try {
            reply = call.get();
        } catch (SpaceException e) {
            observer.onError(GatewayErrors.toStatus(e));
            return;
        } catch (RuntimeException e) {
            LOG.error("a defect", e);
            observer.onError(
                    GatewayErrors.toStatus(
                            new SpaceException(
                                    ErrorCode.INTERNAL, "the gateway has a defect: " + e, e)));
            return;
        }
        observer.onNext(reply);
        observer.onCompleted();
    }
}
