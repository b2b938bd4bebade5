package dev.space.gateway.slot;

import dev.space.gateway.credential.Grants;
import dev.space.gateway.dns.DnsResponder;
import dev.space.gateway.events.Audits;
import dev.space.gateway.events.Totals;
import dev.space.gateway.intercept.Interception;
import dev.space.gateway.net.Upstream;
import dev.space.gateway.tcp.GuestConnection;
import dev.space.gateway.tcp.Home;
import dev.space.gateway.tcp.Interceptor;
import dev.space.gateway.tcp.OriginalDestination.Place;
import dev.space.gateway.tcp.Target;
import dev.space.gateway.tcp.Timeouts;
import dev.space.gateway.tls.SessionTls;
import dev.space.gatewayapi.v1.Audit;
import dev.space.gatewayapi.v1.Counters;
import dev.space.gatewayapi.v1.Kind;
import dev.space.model.credential.CredentialGrants;
import dev.space.model.egress.EgressDecision;
import dev.space.model.egress.EgressDecision.Verdict;
import dev.space.model.egress.EgressPolicy;
import dev.space.model.egress.EgressReason;
import dev.space.model.egress.Evaluator;
import dev.space.model.egress.HostName;
import dev.space.model.egress.SpecialRanges;
import io.netty.channel.Channel;
import java.io.IOException;
import java.time.Clock;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;

/**
 * One slot with its session: judges what comes, counts it, and writes it down. Everything here is
 * on the slot's one loop, so a sandbox that keeps it busy takes no time from others on other loops.
 */
final class BoundSlot implements Home, DnsResponder.Names {

    private static final int QUESTIONS_PER_SECOND = 200;
    private static final int RECORDS_PER_SECOND = 100;
    private static final int BURST_FACTOR = 4;

    private final Settings settings;
    private final Totals totals;
    private final Upstream upstream;
    private final Audits audits;
    private final SyntheticNames names = new SyntheticNames();
    private final SlotCounters counters = new SlotCounters();
    private final Set<GuestConnection> connections = new HashSet<>();
    private final TokenBucket questions =
            bucket(QUESTIONS_PER_SECOND, QUESTIONS_PER_SECOND * BURST_FACTOR);
    private final TokenBucket records =
            bucket(RECORDS_PER_SECOND, RECORDS_PER_SECOND * BURST_FACTOR);

    private EgressPolicy policy = EgressPolicy.DENY_ALL;
    private Evaluator evaluator = new Evaluator(policy);
    private Optional<TokenBucket> requests = Optional.empty();
    private final SessionTls tls;
    private final Interceptor interceptor;
    private Grants credentials;
    private long connectionIds;

    BoundSlot(Settings settings, Totals totals, Upstream upstream, Audits audits, String session) {
        tls = new SessionTls(settings.authority(), session, Clock.systemUTC());
        interceptor = new Interception(settings.outside(), tls, () -> credentials);
        this.settings = settings;
        this.totals = totals;
        this.upstream = upstream;
        this.audits = audits;
        credentials = grants(CredentialGrants.NONE);
    }

    private static TokenBucket bucket(double perSecond, double burst) {
        return new TokenBucket(perSecond, burst, System::nanoTime);
    }

    /** A policy from now on; what it does not allow any more ends. */
    void apply(Binding binding) {
        policy = binding.policy();
        evaluator = new Evaluator(policy);
        names.restore(binding.names());
        requests =
                policy.limits().requestsPerSecond().isPresent()
                        ? Optional.of(perSecond(policy.limits().requestsPerSecond().getAsInt()))
                        : Optional.empty();
        Grants former = credentials;
        credentials = grants(binding.grants());
        former.close();
        Set<String> looked = new HashSet<>(evaluator.interceptedNames());
        looked.addAll(credentials.names());
        tls.allow(looked);
        List.copyOf(connections).forEach(GuestConnection::judgeAnew);
    }

    private Grants grants(CredentialGrants sealed) {
        return Grants.open(
                sealed,
                settings.sources(),
                this::mayBePrivate,
                () -> System.currentTimeMillis() / 1000);
    }

    /** A token endpoint may be near only where the sandbox itself might go there. */
    private boolean mayBePrivate(String host, int port) {
        EgressDecision decision = evaluator.connect(host, port);
        return decision.proceeds() && decision.mayBePrivate();
    }

    private static TokenBucket perSecond(int rate) {
        return bucket(rate, rate);
    }

    /** What the slot's former sandbox had, which this one goes on from. */
    void remember(Map<String, Integer> table) {
        names.restore(table);
    }

    /** A new connection of the guest. */
    void accept(Channel guest) {
        Place place;
        try {
            place = settings.destination().of(guest);
        } catch (IOException | RuntimeException e) {
            GuestConnection.reset(guest);
            return;
        }
        Optional<String> name = names.name(place.address());
        Target target = new Target(name, place.address(), place.port());
        EgressReason bound = bound();
        if (bound != EgressReason.ALLOWED) {
            refuse(guest, target, bound);
        } else if (name.isEmpty() && SpecialRanges.SYNTHETIC.contains(place.address())) {
            refuse(guest, target, EgressReason.ADDRESS_UNKNOWN);
        } else {
            EgressDecision decision = connect(target);
            if (decision.proceeds()) {
                begin(guest, target, decision);
            } else {
                refuse(guest, target, decision.reason());
            }
        }
    }

    /** Which bound is reached. */
    private EgressReason bound() {
        if (connections.size() >= policy.limits().connections()) {
            return EgressReason.LIMIT_CONNECTIONS;
        }
        if (isSpent()) {
            return EgressReason.LIMIT_BYTES;
        }
        if (totals.open.get() >= settings.connectionsMax()) {
            return EgressReason.OVERLOADED;
        }
        return takeRequest() ? EgressReason.ALLOWED : EgressReason.LIMIT_RATE;
    }

    private void begin(Channel guest, Target target, EgressDecision decision) {
        connectionIds++;
        GuestConnection connection =
                new GuestConnection(connectionIds, this, guest, target, decision);
        connections.add(connection);
        totals.open.incrementAndGet();
        connection.begin();
    }

    private void refuse(Channel guest, Target target, EgressReason reason) {
        refused(reason);
        audit(
                Audit.newBuilder()
                        .setVerdict(Verdict.DENY.name())
                        .setKind(Kind.TCP)
                        .setName(target.name().orElse(""))
                        .setAddress(target.name().isPresent() ? "" : target.host())
                        .setPort(target.port())
                        .setReason(reason.name())
                        .setEnded(true));
        GuestConnection.reset(guest);
    }

    @Override
    public boolean mayAsk() {
        boolean may = questions.take();
        if (!may) {
            namesRefused(EgressReason.LIMIT_RATE);
        }
        return may;
    }

    @Override
    public DnsResponder.Answer answer(String asked, boolean wantsAddress) {
        EgressDecision decision = evaluator.dns(asked);
        if (!decision.proceeds()) {
            namesRefused(decision.reason());
            audit(dns(asked, Verdict.DENY, decision));
            return new DnsResponder.Answer.Refused();
        }
        counters.namesAnswered++;
        totals.namesAnswered.increment();
        if (!wantsAddress) {
            return new DnsResponder.Answer.Nothing();
        }
        String name = HostName.of(asked);
        OptionalInt known = names.address(name);
        OptionalInt address = known.isPresent() ? known : names.give(name);
        if (address.isEmpty()) {
            namesRefused(EgressReason.LIMIT_NAMES);
            return new DnsResponder.Answer.Full();
        }
        if (known.isEmpty()) {
            audits.address(name, address.getAsInt());
            audit(dns(name, decision.verdict(), decision));
        }
        return new DnsResponder.Answer.Address(address.getAsInt());
    }

    @Override
    public void unreadable() {
        namesRefused(EgressReason.QUERY_NOT_SUPPORTED);
        audit(
                Audit.newBuilder()
                        .setVerdict(Verdict.DENY.name())
                        .setKind(Kind.DNS)
                        .setReason(EgressReason.QUERY_NOT_SUPPORTED.name()));
    }

    private void namesRefused(EgressReason reason) {
        counters.namesRefused++;
        totals.refused(reason).increment();
    }

    private static Audit.Builder dns(String name, Verdict verdict, EgressDecision decision) {
        return Audit.newBuilder()
                .setVerdict(verdict.name())
                .setKind(Kind.DNS)
                .setName(printable(name))
                .setReason(decision.reason().name())
                .setRule(decision.rule().orElse(""));
    }

    /** A refused name is whatever the guest sent. */
    private static String printable(String name) {
        StringBuilder text = new StringBuilder(name.length());
        name.chars().forEach(c -> text.append(c > 0x20 && c < 0x7f ? (char) c : '?'));
        return text.toString();
    }

    @Override
    public Evaluator evaluator() {
        return evaluator;
    }

    /** A grant opens nothing; where the policy opens, it has TLS looked into. */
    @Override
    public EgressDecision connect(Target target) {
        EgressDecision decision =
                target.name().isPresent()
                        ? evaluator.connect(target.name().get(), target.port())
                        : evaluator.connect(target.address(), target.port());
        boolean granted =
                decision.proceeds()
                        && target.name().isPresent()
                        && target.port() != Evaluator.HTTP_PORT
                        && credentials.isFor(target.name().get(), target.port());
        return granted ? decision.with(EgressDecision.Check.TLS_REQUESTS) : decision;
    }

    @Override
    public Interceptor interceptor() {
        return interceptor;
    }

    @Override
    public Upstream upstream() {
        return upstream;
    }

    @Override
    public Timeouts timeouts() {
        return settings.timeouts();
    }

    @Override
    public boolean takeRequest() {
        return requests.map(TokenBucket::take).orElse(true);
    }

    @Override
    public boolean moved(boolean up, int bytes) {
        if (up) {
            counters.bytesUp += bytes;
            totals.bytesUp.add(bytes);
        } else {
            counters.bytesDown += bytes;
            totals.bytesDown.add(bytes);
        }
        if (isSpent()) {
            List.copyOf(connections).forEach(c -> c.end(EgressReason.LIMIT_BYTES));
            return false;
        }
        return true;
    }

    private boolean isSpent() {
        long used = counters.bytesUp + counters.bytesDown;
        return policy.limits().bytes().isPresent() && used > policy.limits().bytes().getAsLong();
    }

    @Override
    public void connected() {
        counters.connectionsAllowed++;
        totals.connectionsAllowed.increment();
    }

    @Override
    public void requestRefused(EgressReason reason) {
        counters.requestsRefused++;
        totals.refused(reason).increment();
    }

    @Override
    public void refused(EgressReason reason) {
        counters.connectionsRefused++;
        totals.refused(reason).increment();
    }

    @Override
    public void audit(Audit.Builder record) {
        if (records.take()) {
            audits.record(record.build());
        } else {
            counters.recordsDropped++;
        }
    }

    @Override
    public void left(GuestConnection connection) {
        if (connections.remove(connection)) {
            totals.open.decrementAndGet();
        }
    }

    void tick() {
        credentials.forgetOld();
        long now = System.nanoTime();
        new ArrayList<>(connections).forEach(c -> c.tick(now));
    }

    /** Ends every connection. */
    void end() {
        List.copyOf(connections).forEach(c -> c.end(EgressReason.UNBOUND));
        credentials.close();
    }

    Map<String, Integer> names() {
        return names.table();
    }

    Counters counters() {
        return counters.snapshot();
    }
}
