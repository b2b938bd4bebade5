package dev.space.app;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** One HTTP request as bytes, so that a test can send what no client library would. */
final class RawHttp {
    private static final int PATIENCE_MILLIS = 60_000;
    private static final Pattern STATUS = Pattern.compile("HTTP/1\\.1 (\\d{3}).*");
    private static final Pattern CODE = Pattern.compile("\"code\"\\s*:\\s*\"([A-Z_]+)\"");
    private static final Pattern BODY_STATUS = Pattern.compile("\"status\"\\s*:\\s*(\\d{3})");

    private final int port;
    private final String authorization;

    RawHttp(int port, String key) {
        this.port = port;
        this.authorization = "Bearer " + key;
    }

    /** What came back; an empty code when it is no problem document. */
    record Answer(int status, String head, String body) {
        boolean isProblem() {
            return head.toLowerCase(Locale.ROOT).contains("application/problem+json");
        }

        String code() {
            Matcher code = CODE.matcher(body);
            return isProblem() && code.find() ? code.group(1) : "";
        }

        int statusInBody() {
            Matcher status = BODY_STATUS.matcher(body);
            return status.find() ? Integer.parseInt(status.group(1)) : 0;
        }
    }

    /** Headers are whole lines. */
    Answer send(String method, String target, byte[] body, String... headers) throws IOException {
        ByteArrayOutputStream request = new ByteArrayOutputStream();
        StringBuilder head = new StringBuilder();
        head.append(method).append(' ').append(target).append(" HTTP/1.1\r\n");
        head.append("Host: 127.0.0.1\r\nConnection: close\r\n");
        head.append("Authorization: ").append(authorization).append("\r\n");
        for (String header : headers) {
            head.append(header).append("\r\n");
        }
        head.append("Content-Length: ").append(body.length).append("\r\n\r\n");
        request.write(head.toString().getBytes(StandardCharsets.ISO_8859_1));
        request.write(body);
        try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
            socket.setSoTimeout(PATIENCE_MILLIS);
            socket.getOutputStream().write(request.toByteArray());
            socket.getOutputStream().flush();
            return parsed(socket.getInputStream().readAllBytes());
        }
    }

    private static Answer parsed(byte[] bytes) {
        String text = new String(bytes, StandardCharsets.UTF_8);
        int end = text.indexOf("\r\n\r\n");
        String head = end < 0 ? text : text.substring(0, end);
        Matcher status = STATUS.matcher(head.lines().findFirst().orElse(""));
        return new Answer(
                status.matches() ? Integer.parseInt(status.group(1)) : 0,
                head,
                end < 0 ? "" : text.substring(end));
    }
}
