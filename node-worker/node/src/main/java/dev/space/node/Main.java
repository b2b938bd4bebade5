package dev.space.node;

import dev.space.node.app.NodeProcess;
import dev.space.node.config.ConfigLoader;
import java.io.IOException;
import java.nio.file.Path;

/** Entry of the node process: {@code --config FILE}. */
public final class Main {

    private static final int USAGE = 2;
    private static final int FAILED = 1;

    private Main() {}

    public static void main(String[] args) throws InterruptedException {
        if (args.length != 2 || !args[0].equals("--config")) {
            System.err.println("usage: node --config FILE");
            System.exit(USAGE);
        }
        NodeProcess process;
        try {
            process = new NodeProcess(ConfigLoader.load(Path.of(args[1])));
        } catch (IllegalArgumentException e) {
            System.err.println(args[1] + ": " + e.getMessage());
            System.exit(USAGE);
            return;
        } catch (IOException | RuntimeException e) {
            System.err.println("the node cannot start: " + e);
            e.printStackTrace();
            System.exit(FAILED);
            return;
        }
        Runtime.getRuntime().addShutdownHook(new Thread(process::close, "shutdown"));
        process.awaitEnd();
    }
}
