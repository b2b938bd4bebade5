package dev.space.cli.command;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.space.cli.platform.Json;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;
import picocli.CommandLine.TypeConversionException;

/** What a sandbox may reach, on a command line. */
final class NetworkOptions {

    @Option(
            names = "--allow",
            paramLabel = "HOST[:PORT]",
            description = {
                "It may reach this host, or *.HOST, on ports 80 and 443 or on PORT; CIDR:PORT for",
                "addresses without a name. May be repeated. Without it a sandbox reaches nothing."
            })
    List<String> hosts = new ArrayList<>();

    @Option(
            names = "--allow-private",
            paramLabel = "HOST[:PORT]",
            description = "The same for a name that stands for a private address.")
    List<String> privateHosts = new ArrayList<>();

    @Option(
            names = "--allow-preset",
            paramLabel = "NAME",
            description = "Hosts that a tool needs: python, npm, debian or git.")
    List<String> presets = new ArrayList<>();

    boolean isGiven() {
        return !hosts.isEmpty() || !privateHosts.isEmpty() || !presets.isEmpty();
    }

    /** The policy, or null where no option was given. */
    @Nullable ObjectNode policy() {
        if (!isGiven()) {
            return null;
        }
        ObjectNode policy = Json.MAPPER.createObjectNode();
        ArrayNode allow = policy.putArray("allow");
        hosts.forEach(host -> rule(allow.addObject(), host));
        privateHosts.forEach(host -> {
            ObjectNode rule = allow.addObject();
            rule(rule, host);
            rule.put("private", true);
        });
        presets.forEach(name -> allow.addObject().put("preset", name));
        return policy;
    }

    /** The API checks what is written here; only the parts must be found. */
    static void rule(ObjectNode rule, String text) {
        int colon = text.lastIndexOf(':');
        String name = colon < 0 ? text : text.substring(0, colon);
        rule.put(name.indexOf('/') < 0 ? "host" : "cidr", name);
        if (colon >= 0) {
            rule.putArray("ports").add(port(text, text.substring(colon + 1)));
        }
    }

    private static int port(String text, String port) {
        if (!port.matches("[0-9]{1,5}")) {
            throw new TypeConversionException("HOST:PORT has a number for a port, not " + text);
        }
        return Integer.parseInt(port);
    }
}
