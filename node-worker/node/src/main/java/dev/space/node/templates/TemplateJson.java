package dev.space.node.templates;

import com.fasterxml.jackson.databind.JsonNode;
import dev.space.model.ErrorCode;
import dev.space.model.SpaceException;
import dev.space.node.volumes.Json;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.Optional;

/** Reads {@code template.json}. */
final class TemplateJson {

    static final String FILE = "template.json";

    private TemplateJson() {}

    /** Empty where there is none. */
    static Optional<TemplateInfo> read(Path directory, String digest) {
        Path file = directory.resolve(FILE);
        if (!Files.isRegularFile(file, LinkOption.NOFOLLOW_LINKS)) {
            return Optional.empty();
        }
        try {
            JsonNode json = Json.MAPPER.readTree(Files.readAllBytes(file));
            return Optional.of(
                    new TemplateInfo(
                            json.required("name").asText(),
                            digest,
                            json.required("bundle").asText(),
                            json.required("user").asText(),
                            json.required("uid").asInt(),
                            json.required("gid").asInt(),
                            json.required("home").asText(),
                            json.required("minDiskMiB").asInt()));
        } catch (IOException | IllegalArgumentException e) {
            throw new SpaceException(
                    ErrorCode.INTERNAL, file + " cannot be read; build the template again", e);
        }
    }

    /** Whether it speaks of this digest, which is that of what the template was made from. */
    static boolean isOf(Path directory, String digest) throws IOException {
        JsonNode json = Json.MAPPER.readTree(Files.readAllBytes(directory.resolve(FILE)));
        String from =
                "template 1\n%s\n%s\n"
                        .formatted(json.path("rootfs").asText(), json.path("bundle").asText());
        return json.path("digest").asText().equals(digest) && sha256(from).equals(digest);
    }

    private static String sha256(String text) {
        try {
            byte[] digest =
                    MessageDigest.getInstance("SHA-256")
                            .digest(text.getBytes(StandardCharsets.UTF_8));
            return HexFormat.of().formatHex(digest);
        } catch (NoSuchAlgorithmException impossible) {
            throw new IllegalStateException(impossible);
        }
    }
}
