package dev.space.cli.command;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.space.client.SpaceClient;
import java.io.IOException;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Secrets that sandboxes use and never have. */
@Command(
        name = "credential",
        mixinStandardHelpOptions = true,
        description = {
            "Keeps secrets that sandboxes use without having them: the network gateway puts them into",
            "requests to the hosts that each is for. Nobody reads a secret back, so every `set` brings",
            "one; list and show print all but the secret. `space grant` lets a session use one."
        },
        subcommands = {
            CredentialCommand.Set.class,
            CredentialCommand.ListAll.class,
            CredentialCommand.Show.class,
            CredentialCommand.Delete.class
        })
public final class CredentialCommand implements Callable<Integer> {

    @Spec CommandSpec spec;

    @Override
    public Integer call() {
        throw new ParameterException(
                spec.commandLine(), "say what: credential set, list, show or delete");
    }

    /** One as a line. */
    private static void printLine(JsonNode one) {
        StringBuilder line = new StringBuilder();
        line.append(one.path("name").asText()).append(' ').append(one.path("scope").asText());
        line.append(" v").append(one.path("version").asText()).append(' ');
        line.append(one.path("injection").path("kind").asText());
        for (JsonNode host : one.path("hosts")) {
            line.append(' ').append(host.path("host").asText());
            host.path("ports").forEach(port -> line.append(':').append(port.asInt()));
        }
        if (one.has("expires")) {
            line.append(" until ").append(one.path("expires").asText());
        }
        if (one.path("rotationDue").asBoolean()) {
            line.append(" rotation due");
        }
        System.out.println(line);
    }

    private static String path(String name, @Nullable String scope) {
        return "/v1/credentials/"
                + SpaceClient.encode(name)
                + (scope == null ? "" : "?scope=" + SpaceClient.encode(scope));
    }

    /** Makes one, or gives it a new secret. */
    @Command(
            name = "set",
            mixinStandardHelpOptions = true,
            description = {
                "Makes a credential, or gives it a new secret and all else anew; sessions that were",
                "granted it use the new one within seconds. The secret comes from stdin, or from a file;",
                "one end of line behind it is left out. It is never an argument: those are for all to see."
            },
            footer = {
                "",
                "Examples:",
                "  ./space credential set api --host api.example.com --bearer < token",
                "  ./space credential set git --host github.com --basic x-access-token --value-file F",
                "  ./space credential set maps --host '*.example.org' --query key --path '/v1/*'",
                "  ./space credential set s3 --host 's3.eu-central-1.amazonaws.com' --sigv4 AKIA... \\",
                "      --region eu-central-1 --service s3 < secret-access-key",
                "  ./space credential set crm --host api.crm.example --oauth2 client_credentials \\",
                "      --token-url https://login.crm.example/token --client-id agent < client-secret",
                "  ./space credential set app --host api.github.com --jwt RS256 --issuer 12345 < app.pem"
            })
    static final class Set extends SessionCommand {

        @Parameters(paramLabel = "NAME", description = "Small letters, digits and .-_")
        String name = "";

        @Mixin CredentialFields fields;

        @Spec CommandSpec spec;

        @Override
        int run(SpaceClient client) throws IOException {
            ObjectNode body = fields.body(spec.commandLine());
            body.put("value", fields.secret(spec.commandLine()));
            JsonNode answer = client.put(path(name, null), body);
            if (json) {
                printJson(answer);
            } else {
                printLine(answer);
            }
            return 0;
        }
    }

    /** What there is to grant. */
    @Command(
            name = "list",
            mixinStandardHelpOptions = true,
            description = "Lists the credentials of the project and of its organisation.")
    static final class ListAll extends SessionCommand {

        @Override
        int run(SpaceClient client) {
            JsonNode answer = client.get("/v1/credentials");
            if (json) {
                printJson(answer);
            } else {
                answer.path("credentials").forEach(CredentialCommand::printLine);
            }
            return 0;
        }
    }

    /** All but the secret. */
    @Command(
            name = "show",
            mixinStandardHelpOptions = true,
            description = "Prints what a credential is for, as JSON; not its secret.")
    static final class Show extends SessionCommand {

        @Parameters(paramLabel = "NAME", description = "The credential.")
        String name = "";

        @Option(names = "--scope", description = "project or organisation; default: the nearest.")
        @Nullable String scope;

        @Override
        int run(SpaceClient client) {
            JsonNode answer = client.get(path(name, scope));
            System.out.println(json ? answer.toString() : answer.toPrettyString());
            return 0;
        }
    }

    /** With its grants. */
    @Command(
            name = "delete",
            mixinStandardHelpOptions = true,
            description = "Deletes a credential: no session uses it any more within seconds.")
    static final class Delete extends SessionCommand {

        @Parameters(paramLabel = "NAME", description = "The credential.")
        String name = "";

        @Option(names = "--scope", description = "project or organisation; default: the nearest.")
        @Nullable String scope;

        @Override
        int run(SpaceClient client) {
            JsonNode answer = client.delete(path(name, scope));
            if (json) {
                printJson(answer);
            }
            return 0;
        }
    }
}
