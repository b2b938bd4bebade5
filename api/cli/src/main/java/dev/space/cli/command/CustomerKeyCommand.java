package dev.space.cli.command;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.space.cli.platform.PlatformException;
import dev.space.client.SpaceClient;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** The keys that organisations have in key services of their own. */
@Command(
        name = "customer-key",
        mixinStandardHelpOptions = true,
        description = {
            "Protects what an organisation stores with a key in a key service of its own: the transit",
            "engine of an OpenBao or Vault server, or AWS KMS and what speaks its protocol. While that",
            "key is revoked nothing of the organisation starts, what runs ends within a minute, and",
            "nothing stored can be read. docs/keys.md says how the service is set up."
        },
        subcommands = {
            CustomerKeyCommand.Set.class,
            CustomerKeyCommand.Show.class,
            CustomerKeyCommand.Rewrap.class,
            CustomerKeyCommand.Remove.class
        })
public final class CustomerKeyCommand implements Callable<Integer> {

    private static final long FILE_BYTES_MAX = 32_768;

    @Spec CommandSpec spec;

    @Override
    public Integer call() {
        throw new ParameterException(
                spec.commandLine(), "say what: customer-key set, show, rewrap or remove");
    }

    /** What all have: root, an organisation, and the form of the answer. */
    abstract static class OnOne implements Callable<Integer> {

        @Mixin PlatformOptions options;

        @Option(
                names = "--organisation",
                paramLabel = "NAME",
                description = "Whose key; default: ${DEFAULT-VALUE}.")
        String organisation = "default";

        @Option(names = "--json", description = "Print what the API answered.")
        boolean json;

        @Override
        public final Integer call() throws IOException {
            PlatformOptions.demandRoot("customer-key");
            try (SpaceClient client = ApiAccess.operator(options.platform())) {
                String path = "/v1/organisations/" + SpaceClient.encode(organisation) + "/key";
                JsonNode answer = run(client, path);
                System.out.println(json ? answer.toPrettyString() : line(answer));
            }
            return 0;
        }

        abstract JsonNode run(SpaceClient client, String path) throws IOException;

        private static String line(JsonNode key) {
            String waiting = ", waiting to be protected so: " + key.path("waiting").asLong();
            if (!key.has("state")) {
                return key.path("organisation").asText() + ": the platform's own key" + waiting;
            }
            String detail = key.path("detail").asText();
            String where = key.path("address").asText(key.path("region").asText());
            return "%s: %s key %s at %s is %s%s; protects families of sessions: %d%s"
                    .formatted(
                            key.path("organisation").asText(),
                            key.path("kind").asText(),
                            key.path("key").asText(),
                            where,
                            key.path("state").asText(),
                            detail.isEmpty() ? "" : " (" + detail + ")",
                            key.path("lineages").asLong(),
                            waiting);
        }
    }

    /** Ids come from files, so that no process list has them. */
    @Command(
            name = "set",
            mixinStandardHelpOptions = true,
            description = {
                "Makes a key the organisation's, once it has wrapped and unwrapped something. What is",
                "stored already is protected by it within seconds, without being rewritten. The same",
                "key again brings new ids to log in with."
            },
            footer = {
                "",
                "Examples:",
                "  ./space customer-key set --address https://bao.example.com:8200 --key space \\",
                "      --id-file role-id --secret-file secret-id",
                "  ./space customer-key set --region eu-central-1 --key alias/space \\",
                "      --id-file access-key-id --secret-file secret-access-key"
            })
    static final class Set extends OnOne {

        @Option(
                names = "--address",
                paramLabel = "URL",
                description = {
                    "https://HOST[:PORT] of the server; http:// on this machine only.",
                    "With --region: absent for AWS's own."
                })
        @Nullable String address;

        @Option(
                names = "--region",
                paramLabel = "NAME",
                description = "Region of a KMS; without it the key is a vault's.")
        @Nullable String region;

        @Option(
                names = "--mount",
                paramLabel = "NAME",
                description = "Of the transit engine; default: transit.")
        @Nullable String mount;

        @Option(
                names = "--key",
                required = true,
                paramLabel = "NAME",
                description = "The key's name there; of a KMS its id, ARN or alias.")
        String key = "";

        @Option(
                names = "--ca-file",
                paramLabel = "FILE",
                description = "Certificates (PEM) that a vault's is checked against.")
        @Nullable Path ca;

        @Option(
                names = "--id-file",
                required = true,
                paramLabel = "FILE",
                description = {
                    "Who may encrypt and decrypt with the key: an AppRole's role id, or an access key's",
                    "id."
                })
        Path id = Path.of("");

        @Option(
                names = "--secret-file",
                required = true,
                paramLabel = "FILE",
                description = "Its secret id, or secret access key.")
        Path secret = Path.of("");

        @Override
        JsonNode run(SpaceClient client, String path) throws IOException {
            ObjectNode body = JsonNodeFactory.instance.objectNode();
            body.put("kind", region == null ? "transit" : "aws-kms").put("key", key);
            body.put("id", read(id).strip()).put("secret", read(secret).strip());
            put(body, "address", address);
            put(body, "region", region);
            put(body, "mount", mount);
            if (ca != null) {
                body.put("ca", read(ca));
            }
            return client.put(path, body);
        }

        private static void put(ObjectNode body, String field, @Nullable String value) {
            if (value != null) {
                body.put(field, value);
            }
        }

        private static String read(Path file) throws IOException {
            if (!Files.isRegularFile(file) || Files.size(file) > FILE_BYTES_MAX) {
                throw new PlatformException(
                        file + " is no file of at most " + FILE_BYTES_MAX + " bytes");
            }
            return Files.readString(file);
        }
    }

    /** What became of it. */
    @Command(
            name = "show",
            mixinStandardHelpOptions = true,
            description = "Says which key an organisation has, and whether it can be used.")
    static final class Show extends OnOne {

        @Override
        JsonNode run(SpaceClient client, String path) {
            return client.get(path);
        }
    }

    /** After a rotation. */
    @Command(
            name = "rewrap",
            mixinStandardHelpOptions = true,
            description = {
                "Protects everything with the newest version of the key, after it was rotated in its",
                "service; then older versions can be disabled there. Nothing stored is rewritten."
            })
    static final class Rewrap extends OnOne {

        @Override
        JsonNode run(SpaceClient client, String path) {
            return client.post(path + "/rewrap", null);
        }
    }

    /** Back to the platform's own. */
    @Command(
            name = "remove",
            mixinStandardHelpOptions = true,
            description = {
                "Goes back to the platform's own key. The organisation's is needed until everything is",
                "protected anew: do not delete it before `show` says that nothing waits."
            })
    static final class Remove extends OnOne {

        @Override
        JsonNode run(SpaceClient client, String path) {
            return client.delete(path);
        }
    }
}
