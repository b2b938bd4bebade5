package dev.space.cli.command;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.space.cli.platform.Json;
import java.io.Console;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;

/** A credential on a command line: everything but its secret. */
final class CredentialFields {

    private static final String BYTE_ORDER_MARK = "\ufeff";

    /** More than the API takes, which then says so. */
    private static final int SECRET_BYTES_MAX = 64 << 10;

    @Option(
            names = "--host",
            paramLabel = "HOST[:PORT]",
            required = true,
            description =
                    "It may be sent to this host, or *.HOST, on port 443 or PORT. Repeatable.")
    List<String> hosts = new ArrayList<>();

    @Mixin InjectionOptions way = new InjectionOptions();

    @Option(names = "--method", paramLabel = "GET", description = "Only these. Repeatable.")
    List<String> methods = new ArrayList<>();

    @Option(names = "--path", paramLabel = "/v1/*", description = "Only requests of this path.")
    @Nullable String path;

    @Option(
            names = "--limit",
            paramLabel = "N/minute",
            description = "Each session may use it so often in a minute, or N/second.")
    @Nullable String limit;

    @Option(names = "--scope", description = "project (default) or organisation.")
    @Nullable String scope;

    @Option(names = "--owner", description = "Who looks after it; for people.")
    @Nullable String owner;

    @Option(names = "--expires", paramLabel = "TIME", description = "Such as 2030-01-31T12:00:00Z.")
    @Nullable String expires;

    @Option(names = "--rotate-after", paramLabel = "TIME", description = "For people.")
    @Nullable String rotateAfter;

    @Option(
            names = "--value-file",
            paramLabel = "FILE",
            description = "Where the secret is. Default: stdin.")
    @Nullable Path file;

    /** What the API takes, without the value. */
    ObjectNode body(CommandLine line) {
        ObjectNode body = Json.MAPPER.createObjectNode();
        ArrayNode places = body.putArray("hosts");
        hosts.forEach(host -> NetworkOptions.rule(places.addObject(), host));
        body.set("injection", way.json(line));
        if (!methods.isEmpty()) {
            methods.forEach(body.putArray("methods")::add);
        }
        put(body, "path", path);
        if (limit != null) {
            limit(body.putObject("limit"), limit, line);
        }
        put(body, "scope", scope);
        put(body, "owner", owner);
        put(body, "expires", expires);
        put(body, "rotateAfter", rotateAfter);
        return body;
    }

    private static void limit(ObjectNode to, String text, CommandLine line) {
        int slash = text.indexOf('/');
        try {
            to.put("requests", Integer.parseInt(text.substring(0, Math.max(slash, 0))));
        } catch (NumberFormatException malformed) {
            throw new ParameterException(
                    line, "--limit is such as 60/minute or 5/second: " + text, malformed);
        }
        to.put("per", text.substring(slash + 1));
    }

    private static void put(ObjectNode body, String field, @Nullable String value) {
        if (value != null) {
            body.put(field, value);
        }
    }

    /** Asked for without echo where stdin is a terminal. */
    String secret(CommandLine line) throws IOException {
        if (file != null) {
            if (Files.isDirectory(file)) {
                throw new ParameterException(line, "--value-file is a directory: " + file);
            }
            try (InputStream in = Files.newInputStream(file)) {
                return text(in, line);
            }
        }
        Optional<Console> terminal =
                Optional.ofNullable(System.console()).filter(Console::isTerminal);
        if (terminal.isPresent()) {
            char[] typed = terminal.get().readPassword("Secret: ");
            return typed == null ? "" : new String(typed);
        }
        return text(System.in, line);
    }

    /** One end of line belongs to the file, not to the secret. */
    static String text(InputStream in, CommandLine line) throws IOException {
        byte[] bytes = in.readNBytes(SECRET_BYTES_MAX + 1);
        if (bytes.length > SECRET_BYTES_MAX) {
            throw new ParameterException(line, "that is too long for a secret");
        }
        String text;
        try {
            text = StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes)).toString();
        } catch (CharacterCodingException binary) {
            throw new ParameterException(line, "the secret is no UTF-8", binary);
        }
        if (text.startsWith(BYTE_ORDER_MARK)) {
            throw new ParameterException(
                    line, "the secret begins with a byte order mark, as some editors write it");
        }
        return text.endsWith("\r\n")
                ? text.substring(0, text.length() - 2)
                : text.endsWith("\n") ? text.substring(0, text.length() - 1) : text;
    }
}
