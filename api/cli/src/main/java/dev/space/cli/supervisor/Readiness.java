package dev.space.cli.supervisor;

import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.URI;
import java.net.UnixDomainSocketAddress;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.channels.SocketChannel;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Asks a service whether it can serve. */
@FunctionalInterface
interface Readiness {

    /** Begins a reason that a person who waits wants to see. */
    String WAITING = "waits for ";

    Pattern WAITS_FOR = Pattern.compile("\"waitsFor\":\"([^\"]{1,400})\"");

    Duration ASK_MAX = Duration.ofSeconds(5);

    /** Why it cannot serve yet; nothing when it can. */
    Optional<String> whyNot();

    /** Ready when the address answers 200. */
    static Readiness http(HttpClient client, String url) {
        HttpRequest request = HttpRequest.newBuilder(URI.create(url)).timeout(ASK_MAX).build();
        return () -> {
            try {
                HttpResponse<String> answer =
                        client.send(request, HttpResponse.BodyHandlers.ofString());
                return answer.statusCode() == 200
                        ? Optional.empty()
                        : Optional.of(
                                waitsFor(answer.body())
                                        .orElse(
                                                url
                                                        + " answers "
                                                        + answer.statusCode()
                                                        + failing(answer.body())));
            } catch (IOException e) {
                return Optional.of(url + " does not answer yet");
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                return Optional.of("interrupted");
            }
        };
    }

    /** What the service says itself that it waits for. */
    private static Optional<String> waitsFor(String body) {
        Matcher said = WAITS_FOR.matcher(body);
        return said.find() ? Optional.of(WAITING + said.group(1)) : Optional.empty();
    }

    private static String failing(String body) {
        String flat = body.replaceAll("\\s+", " ");
        return flat.isEmpty() ? "" : ": " + flat.substring(0, Math.min(flat.length(), 300));
    }

    /** Ready when something accepts connections on the socket. */
    static Readiness unixSocket(Path path) {
        return () -> {
            try (SocketChannel channel = SocketChannel.open(StandardProtocolFamily.UNIX)) {
                channel.connect(UnixDomainSocketAddress.of(path));
                return Optional.empty();
            } catch (IOException e) {
                return Optional.of(path + " is not there yet");
            }
        };
    }
}
