package dev.space.bench.gateway;

import dev.space.certificates.Pem;
import io.netty.channel.EventLoop;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.epoll.EpollEventLoopGroup;
import io.netty.handler.ssl.ApplicationProtocolConfig;
import io.netty.handler.ssl.ApplicationProtocolConfig.Protocol;
import io.netty.handler.ssl.ApplicationProtocolConfig.SelectedListenerFailureBehavior;
import io.netty.handler.ssl.ApplicationProtocolConfig.SelectorFailureBehavior;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslContextBuilder;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.cert.X509Certificate;

/**
 * A sandbox's client, as a process in its network namespace: does one job after the other until its
 * standard input ends. Verifies what it connects to.
 */
public final class LoadClient {

    private LoadClient() {}

    /** The server's name, and a file of the roots that are trusted at the time of a job. */
    public static void main(String[] arguments) throws Exception {
        String name = arguments[0];
        Path roots = Path.of(arguments[1]);
        EventLoopGroup loops = new EpollEventLoopGroup(1);
        EventLoop loop = loops.next();
        BufferedReader jobs =
                new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = jobs.readLine(); line != null; line = jobs.readLine()) {
            Job job = Job.of(line);
            LoadRun run = new LoadRun(job, name, trusting(roots, job.protocol()), loop);
            System.out.println(run.run().line());
        }
        var _ = loops.shutdownGracefully();
    }

    static String alpn(String protocol) {
        return protocol.equals("h2") ? "h2" : "http/1.1";
    }

    private static SslContext trusting(Path roots, String protocol) throws IOException {
        X509Certificate[] trusted =
                Pem.certificates(Files.readString(roots)).toArray(X509Certificate[]::new);
        return SslContextBuilder.forClient()
                .trustManager(trusted)
                .endpointIdentificationAlgorithm("HTTPS")
                .applicationProtocolConfig(
                        new ApplicationProtocolConfig(
                                Protocol.ALPN,
                                SelectorFailureBehavior.NO_ADVERTISE,
                                SelectedListenerFailureBehavior.ACCEPT,
                                alpn(protocol)))
                .build();
    }
}
