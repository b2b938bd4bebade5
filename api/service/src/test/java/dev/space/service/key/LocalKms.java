package dev.space.service.key;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.Channels;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

/**
 * A real server of the KMS protocol. It listens on every address, so it runs in a network namespace
 * of its own, and this object brings connections of loopback to it.
 */
final class LocalKms implements AutoCloseable {

    private static final String PORT = "4599";

    /** In the namespace: from a socket in the file system to the server. */
    private static final String INSIDE =
            """
            import asyncio, sys
            async def copy(r, w):
                try:
                    while data := await r.read(65536):
                        w.write(data)
                        await w.drain()
                finally:
                    w.close()
            async def serve(r, w):
                r2, w2 = await asyncio.open_connection('127.0.0.1', int(sys.argv[2]))
                await asyncio.gather(copy(r, w2), copy(r2, w), return_exceptions=True)
            async def main():
                server = await asyncio.start_unix_server(serve, sys.argv[1])
                await server.serve_forever()
            asyncio.run(main())
            """;

    private final Path socket;
    private final ServerSocket outside;
    private final Process process;

    private LocalKms(Path socket, ServerSocket outside, Process process) {
        this.socket = socket;
        this.outside = outside;
        this.process = process;
    }

    /** The binary, when the environment names one. */
    static Optional<Path> binary() {
        return Optional.ofNullable(System.getenv("SPACE_KMS_BIN"))
                .filter(name -> !name.isEmpty())
                .map(Path::of)
                .filter(Files::isExecutable);
    }

    static LocalKms start(Path binary, Path directory) throws Exception {
        Path relay = Files.writeString(directory.resolve("relay.py"), INSIDE);
        Path socket = directory.resolve("kms.sock");
        String script =
                "ip link set lo up; python3 %s %s %s & exec %s"
                        .formatted(relay, socket, PORT, binary);
        ProcessBuilder builder =
                new ProcessBuilder(
                                "unshare",
                                "--net",
                                "--pid",
                                "--fork",
                                "--kill-child",
                                "sh",
                                "-c",
                                script)
                        .redirectErrorStream(true)
                        .redirectOutput(directory.resolve("kms.log").toFile());
        builder.environment()
                .putAll(
                        Map.of(
                                "PORT",
                                PORT,
                                "KMS_REGION",
                                "eu-central-1",
                                "KMS_ACCOUNT_ID",
                                "111122223333",
                                "KMS_DATA_PATH",
                                directory.resolve("data").toString()));
        Process process = builder.start();
        ServerSocket outside = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
        LocalKms kms = new LocalKms(socket, outside, process);
        Thread.ofVirtual().start(kms::accept);
        return kms;
    }

    int port() {
        return outside.getLocalPort();
    }

    private void accept() {
        while (!outside.isClosed()) {
            try {
                Socket client = outside.accept();
                Thread.ofVirtual().start(() -> relay(client));
            } catch (IOException closed) {
                return;
            }
        }
    }

    private void relay(Socket client) {
        try (client;
                SocketChannel server = SocketChannel.open(StandardProtocolFamily.UNIX)) {
            server.connect(UnixDomainSocketAddress.of(socket));
            InputStream back = Channels.newInputStream(server);
            Thread up =
                    Thread.ofVirtual()
                            .start(() -> copy(in(client), Channels.newOutputStream(server)));
            copy(back, client.getOutputStream());
            up.interrupt();
        } catch (IOException ended) {
            return; // the caller sees a connection that ends
        }
    }

    private static InputStream in(Socket client) {
        try {
            return client.getInputStream();
        } catch (IOException ended) {
            return InputStream.nullInputStream();
        }
    }

    private static void copy(InputStream from, OutputStream to) {
        try {
            byte[] buffer = new byte[8192];
            for (int n = from.read(buffer); n >= 0; n = from.read(buffer)) {
                to.write(buffer, 0, n);
                to.flush();
            }
        } catch (IOException ended) {
            return;
        }
    }

    @Override
    public void close() throws IOException {
        outside.close();
        for (ProcessHandle child : List.copyOf(process.descendants().toList())) {
            child.destroyForcibly();
        }
        process.destroyForcibly().onExit().orTimeout(20, TimeUnit.SECONDS).join();
    }
}
