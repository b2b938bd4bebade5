package dev.space.cli.command;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import dev.space.client.CreateSession;
import dev.space.client.RunProcess;
import dev.space.client.SpaceClient;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;

@Command(
        name = "warm-up",
        hidden = true,
        description = {
            "Drives the client against a server in this process that answers anything, so that the",
            "JVM that records its start-up for the next ones has seen what a `run` loads."
        })
public final class WarmUpCommand implements Callable<Integer> {

    private static final byte[] ANSWER =
            """
            {"id":"x","state":"EXITED","epoch":1,"exitCode":0,"reason":"EXITED","items":[]}\
            """
                    .getBytes(StandardCharsets.UTF_8);

    @Override
    public Integer call() throws IOException {
        HttpServer server =
                HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.createContext("/", WarmUpCommand::answer);
        server.start();
        URI url = URI.create("http://127.0.0.1:" + server.getAddress().getPort());
        try (SpaceClient client = new SpaceClient(url, "none")) {
            var _ = client.create(new CreateSession("default", null, null, null));
            var _ = client.sessions();
            var _ = client.command("x", "pause");
            int code = new StreamedProcess(client, "x").run(RunProcess.of(List.of("true")));
            client.destroy("x");
            return code;
        } finally {
            server.stop(0);
        }
    }

    private static void answer(HttpExchange exchange) throws IOException {
        try (exchange) {
            exchange.getRequestBody().transferTo(java.io.OutputStream.nullOutputStream());
            boolean output = exchange.getRequestURI().getPath().endsWith("/output");
            byte[] body = output ? new byte[0] : ANSWER;
            exchange.sendResponseHeaders(200, body.length == 0 ? -1 : body.length);
            exchange.getResponseBody().write(body);
        }
    }
}
