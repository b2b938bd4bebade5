package dev.space.durable;

import dev.space.model.Secret;
import dev.space.model.SpaceException;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.Map;
import java.util.Properties;

/**
 * Checks one durable snapshot with nothing but the object store: {@code --config FILE} has the keys
 * {@code space.object-store.*}; {@code --manifest KEY --digest SHA256} is what its row says; with
 * {@code --key-file FILE} (the lineage's key, 64 hexadecimal digits) every chunk is opened too.
 * Exit code 0: good, 1: damaged, 2: could not be checked.
 */
public final class VerifyMain {

    private static final String USAGE =
            "usage: --config FILE --manifest KEY --digest SHA256 [--key-file FILE]";

    private VerifyMain() {}

    public static void main(String[] args) throws IOException {
        System.exit(run(args, System.out, System.err));
    }

    static int run(String[] args, PrintStream out, PrintStream err) throws IOException {
        Map<String, String> options = new HashMap<>();
        for (int i = 0; i + 1 < args.length; i += 2) {
            options.put(args[i], args[i + 1]);
        }
        String config = options.remove("--config");
        String manifest = options.remove("--manifest");
        String digest = options.remove("--digest");
        String key = options.remove("--key-file");
        if (args.length % 2 != 0
                || !options.isEmpty()
                || config == null
                || manifest == null
                || digest == null) {
            err.println(USAGE);
            return 2;
        }
        try (S3DurableStore store = new S3DurableStore(settings(Path.of(config)))) {
            Verification found =
                    key == null
                            ? store.inspect(manifest, digest)
                            : verify(store, manifest, digest, Path.of(key));
            found.faults().forEach(out::println);
            out.printf(
                    "%s: %d packs, %s%n",
                    found.isGood() ? "good" : "DAMAGED",
                    found.packs(),
                    key == null
                            ? "contents not checked (no --key-file)"
                            : found.chunks() + " chunks, " + found.bytes() + " bytes read");
            return found.isGood() ? 0 : 1;
        } catch (SpaceException e) {
            err.println(e.code() + ": " + e.getMessage());
            return 2;
        }
    }

    private static Verification verify(
            S3DurableStore store, String manifest, String digest, Path keyFile) throws IOException {
        String text = Files.readString(keyFile).strip();
        try (LineageKey key = new LineageKey(HexFormat.of().parseHex(text))) {
            var snapshot = new DurableSnapshot(manifest, digest, 0, 0, 0);
            return store.verify(snapshot, key, TransferControl.NONE);
        }
    }

    private static S3Settings settings(Path config) throws IOException {
        Properties all = new Properties();
        try (var in = Files.newBufferedReader(config)) {
            all.load(in);
        }
        String prefix = "space.object-store.";
        String secretFile = all.getProperty(prefix + "secret-key-file", "");
        return new S3Settings(
                all.getProperty(prefix + "endpoint", ""),
                all.getProperty(prefix + "region", "us-east-1"),
                all.getProperty(prefix + "bucket", "space"),
                all.getProperty(prefix + "access-key", ""),
                Secret.ofText("secret key", Files.readString(Path.of(secretFile)).strip()));
    }
}
