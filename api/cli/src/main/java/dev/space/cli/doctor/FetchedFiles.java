package dev.space.cli.doctor;

import com.fasterxml.jackson.databind.JsonNode;
import dev.space.cli.platform.Json;
import dev.space.cli.platform.PlatformException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.DigestInputStream;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;

/**
 * Compares what runs as server or engine with the digests that were recorded when it was fetched or
 * built: whole files, which the launcher at every start only compares in size and time.
 */
final class FetchedFiles {

    private static final String SUMS = ".space-sha256";

    private final Path cache;

    FetchedFiles(Path cache) {
        this.cache = cache;
    }

    Finding look() {
        List<String> wrong = new ArrayList<>();
        int looked = 0;
        for (Path server : children(cache.resolve("servers"))) {
            looked += compare(server, sums(server.resolve(SUMS)), wrong);
        }
        Set<Path> bundles = new LinkedHashSet<>(); // many templates have the same
        for (Path template : children(cache.resolve("templates"))) {
            bundles.add(cache.resolve("bundles").resolve(bundle(template)));
        }
        for (Path bundle : bundles) {
            looked += compare(bundle, manifest(bundle.resolve("bundle.json")), wrong);
        }
        if (!wrong.isEmpty()) {
            String more = wrong.size() > 3 ? " and " + (wrong.size() - 3) + " more" : "";
            return Finding.fault(
                    "changed since it was fetched or built: "
                            + String.join(", ", wrong.subList(0, Math.min(3, wrong.size())))
                            + more,
                    "./space down; rm -r the directories named; ./space up (fetches and builds"
                            + " them again)");
        }
        return looked == 0
                ? Finding.note("nothing was fetched yet", "./space up")
                : Finding.ok(looked + " server and engine files are as they were recorded");
    }

    private static int compare(Path directory, Map<String, String> recorded, List<String> wrong) {
        recorded.forEach((name, digest) -> {
            Path file = directory.resolve(name).normalize();
            if (!digest.equals(sha256(file))) {
                wrong.add(file.toString());
            }
        });
        return recorded.size();
    }

    private static Map<String, String> sums(Path file) {
        Map<String, String> sums = new LinkedHashMap<>();
        try {
            if (Files.exists(file)) {
                for (String line : Files.readAllLines(file)) {
                    String[] parts = line.split("  ", 2);
                    sums.put(parts[1], parts[0]);
                }
            }
            return sums;
        } catch (IOException | ArrayIndexOutOfBoundsException e) {
            throw new PlatformException("cannot read " + file + ": " + e.getMessage(), e);
        }
    }

    private static Map<String, String> manifest(Path file) {
        Map<String, String> sums = new LinkedHashMap<>();
        Json.read(file, JsonNode.class)
                .ifPresent(manifest ->
                        manifest.path("files")
                                .properties()
                                .forEach(e -> sums.put(e.getKey(), e.getValue().asText())));
        return sums;
    }

    private static String bundle(Path template) {
        return Json.read(template.resolve("template.json"), JsonNode.class)
                .map(t -> t.path("bundle").asText("none"))
                .orElse("none");
    }

    private static List<Path> children(Path directory) {
        if (!Files.isDirectory(directory)) {
            return List.of();
        }
        try (Stream<Path> all = Files.list(directory)) {
            return all.filter(Files::isDirectory).sorted().toList();
        } catch (IOException e) {
            throw new PlatformException("cannot read " + directory + ": " + e.getMessage(), e);
        }
    }

    private static String sha256(Path file) {
        try (InputStream in = Files.newInputStream(file)) {
            MessageDigest digest = MessageDigest.getInstance("SHA-256");
            new DigestInputStream(in, digest).transferTo(java.io.OutputStream.nullOutputStream());
            return HexFormat.of().formatHex(digest.digest());
        } catch (IOException e) {
            return "unreadable";
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every JDK has SHA-256", e);
        }
    }
}
