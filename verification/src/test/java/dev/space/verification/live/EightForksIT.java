package dev.space.verification.live;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * Eight children of one session: what each draws is its own, and the template has its say first.
 */
final class EightForksIT extends OnOnePlatform {

    private static final Duration STEP_MAX = Duration.ofMinutes(3);
    private static final int CHILDREN = 8;
    private static final long CLOCK_MILLIS_MAX = 500;

    /** Longer than the hooks may take together. */
    private static final int TOO_LONG_SECONDS = 60;

    /**
     * A module with one function: the random bytes of a client's first TLS message, which lie
     * behind 5 bytes of record and 6 of message.
     */
    private static final String TLS =
            """
            import ssl
            def client_random():
                out = ssl.MemoryBIO()
                tls = ssl.create_default_context().wrap_bio(
                    ssl.MemoryBIO(), out, server_hostname="nobody")
                try:
                    tls.do_handshake()
                except ssl.SSLWantReadError:
                    return out.read()[11:43].hex()
            """;

    /**
     * Lives on in each child, where its library would say the same: it adds what the kernel has.
     */
    private static final String LIVING =
            """
            exec python3 -u -c '
            import os, ssl, time, tls
            while True:
              ssl.RAND_add(os.urandom(32), 32.0)
              print(tls.client_random())
              time.sleep(0.3)
            '
            """;

    private final List<String> all = new ArrayList<>();

    @BeforeEach
    void create() throws IOException {
        all.clear();
        all.add(rest.created());
    }

    @AfterEach
    void destroy() throws IOException {
        for (String session : all) {
            rest.destroy(session);
        }
    }

    private String source() {
        return all.getFirst();
    }

    private void fork(int children) throws IOException {
        JsonNode fork = rest.fork(source(), children);
        for (JsonNode child : fork.path("children")) {
            all.add(child.path("id").asText());
            assertThat(child.path("state").asText()).as("%s", fork).isEqualTo("RUNNING");
        }
        assertThat(all).hasSize(1 + children);
    }

    private void hook(String name, String body) throws IOException {
        String path = "/etc/space/on-fork.d/" + name;
        rest.shellAsRoot(
                source(),
                "mkdir -p /etc/space/on-fork.d; printf '#!/bin/sh\\n%s\\n' '"
                        + body
                        + "' >"
                        + path
                        + "; chmod 755 "
                        + path);
    }

    @Test
    void noTwoOfEightDrawTheSame() throws Exception {
        rest.shell(source(), "cat >tls.py <<'EOF'\n" + TLS + "EOF");
        String tls = rest.background(source(), LIVING);
        Await.until("TLS has begun", STEP_MAX, () -> randoms(source(), tls).size() > 2);
        fork(CHILDREN);

        for (String session : all) {
            long before = System.currentTimeMillis();
            long clock = Long.parseLong(rest.shell(session, "date +%s%3N").strip());
            assertThat(clock)
                    .isBetween(
                            before - CLOCK_MILLIS_MAX,
                            System.currentTimeMillis() + CLOCK_MILLIS_MAX);
        }
        for (String what :
                List.of(
                        "head -c 32 /dev/urandom | base64 -w0",
                        "cat /proc/sys/kernel/random/uuid",
                        "python3 -c 'import tls; print(tls.client_random())'")) {
            Set<String> seen = new HashSet<>();
            for (String session : all) {
                seen.add(rest.shell(session, what));
            }
            assertThat(seen).as(what).hasSize(all.size());
        }
        tlsRandomsDiffer(tls);
    }

    /** A process that had drawn before goes on in each; nothing it says later is said twice. */
    private void tlsRandomsDiffer(String tls) throws Exception {
        List<String> before = common(tls);
        Set<String> seen = new HashSet<>(before);
        for (String session : all) {
            Await.until(
                    session + " goes on",
                    STEP_MAX,
                    () -> randoms(session, tls).size() >= before.size() + 3);
            List<String> now = randoms(session, tls);
            for (String random : now.subList(before.size(), now.size())) {
                assertThat(random).hasSize(64);
                assertThat(seen.add(random)).as("%s drew %s alone", session, random).isTrue();
            }
        }
    }

    /** What all have written, once each of the children has written more. */
    private List<String> common(String tls) throws Exception {
        List<List<String>> outputs = new ArrayList<>();
        for (String session : all) {
            Await.until(
                    session + " drew alone",
                    STEP_MAX,
                    () ->
                            !randoms(source(), tls)
                                    .subList(0, 3)
                                    .contains(randoms(session, tls).getLast()));
            outputs.add(randoms(session, tls));
        }
        List<String> common = new ArrayList<>(outputs.getFirst());
        outputs.forEach(common::retainAll);
        assertThat(common).hasSizeGreaterThan(2);
        return common;
    }

    private List<String> randoms(String session, String process) throws IOException {
        String output = rest.output(session, process);
        return output.substring(0, output.lastIndexOf('\n') + 1).lines().toList();
    }

    @Test
    void hooksRunOnceWhileTheWorkloadStandsStill() throws Exception {
        rest.shell(source(), "sleep 1000 >/dev/null 2>&1 &");
        hook("10-order", "echo first >>/run/hooks");
        hook(
                "20-frozen",
                "grep -h frozen /sys/fs/cgroup/workload/cgroup.events >>/run/hooks;"
                        + " hostname >>/run/hooks; id -u >>/run/hooks; false");
        hook("30-not-executable", "echo never >>/run/hooks");
        rest.shellAsRoot(source(), "chmod 644 /etc/space/on-fork.d/30-not-executable");
        fork(2);
        for (String child : all.subList(1, all.size())) {
            assertThat(rest.shell(child, "cat /run/hooks"))
                    .isEqualTo("first\nfrozen 1\n" + rest.shell(child, "hostname") + "0\n");
            rest.command(child, "pause").demand();
            rest.command(child, "resume").demand();
            assertThat(rest.shell(child, "grep -c first /run/hooks")).isEqualTo("1\n");
        }
        assertThat(rest.shell(source(), "cat /run/hooks 2>&1 || true")).contains("No such file");
    }

    /** Of a source that is on no node, and of which no node has a copy. */
    @Test
    void hooksRunInAChildThatIsFetchedFromTheObjectStore() throws Exception {
        hook("10-fetched", "echo fetched >>/run/hooks; hostname >>/run/hooks");
        rest.command(source(), "suspend").demand();
        platform.removeCopies(source());
        fork(1);
        String child = all.getLast();
        String told = "fetched\n" + rest.shell(child, "hostname");
        assertThat(rest.shell(child, "cat /run/hooks")).isEqualTo(told);
        rest.command(child, "suspend").demand();
        platform.removeCopies(child);
        rest.command(child, "restore").demand();
        assertThat(rest.shell(child, "cat /run/hooks")).as("the same session").isEqualTo(told);
        rest.command(source(), "restore").demand();
        assertThat(rest.shell(source(), "cat /run/hooks 2>&1 || true")).contains("No such file");
    }

    @Test
    void aHookThatDoesNotEndIsEnded() throws Exception {
        hook("10-slow", "echo begun >/run/slow; sleep " + TOO_LONG_SECONDS + " & wait");
        fork(1);
        String child = all.getLast();
        assertThat(rest.shell(child, "cat /run/slow")).isEqualTo("begun\n");
        assertThat(rest.shell(child, "pgrep -xc sleep || true")).isEqualTo("0\n");
    }
}
