package dev.space.gateway;

import dev.space.gateway.app.GatewayProcess;
import dev.space.gateway.config.GatewayConfig;
import java.io.IOException;
import java.nio.file.Path;

/** Entry of the gateway process: {@code --config FILE}. */
public final class Main {

    private static final int USAGE = 2;
    private static final int FAILED = 1;

    private Main() {}

    public static void main(String[] args) throws InterruptedException {
        if (args.length != 2 || !args[0].equals("--config")) {
            System.err.println("usage: gateway --config FILE");
            System.exit(USAGE);
        }
        GatewayProcess process;
        try {
            GatewayConfig config = GatewayConfig.load(Path.of(args[1]));
            process = new GatewayProcess(config, new ManagerSockets(config.socketsSocket()));
        } catch (IllegalArgumentException e) {
            System.err.println(args[1] + ": " + e.getMessage());
            System.exit(USAGE);
            return;
        } catch (IOException | RuntimeException e) {
            System.err.println("the gateway cannot start: " + e);
            e.printStackTrace();
            System.exit(FAILED);
            return;
        }
        Runtime.getRuntime().addShutdownHook(new Thread(process::close, "shutdown"));
        process.awaitEnd();
    }
}
