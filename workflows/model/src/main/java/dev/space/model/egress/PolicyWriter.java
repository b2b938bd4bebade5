package dev.space.model.egress;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import java.io.IOException;
import java.io.StringWriter;
import java.util.List;

/** Record to JSON: fixed order of fields, nothing that is at its default. */
final class PolicyWriter {

    private static final JsonFactory FACTORY = new JsonFactory();

    private PolicyWriter() {}

    static String write(EgressPolicy policy) {
        StringWriter text = new StringWriter();
        try (JsonGenerator out = FACTORY.createGenerator(text)) {
            out.writeStartObject();
            out.writeArrayFieldStart("allow");
            for (EgressRule rule : policy.allow()) {
                out.writeStartObject();
                rule(out, rule);
                out.writeEndObject();
            }
            out.writeEndArray();
            limits(out, policy.limits());
            out.writeBooleanField("dryRun", policy.dryRun());
            out.writeEndObject();
        } catch (IOException e) {
            throw new IllegalStateException("text cannot fail to be written", e);
        }
        return text.toString();
    }

    private static void rule(JsonGenerator out, EgressRule rule) throws IOException {
        switch (rule) {
            case EgressRule.Host host -> host(out, host);
            case EgressRule.Addresses addresses -> {
                out.writeStringField("cidr", addresses.cidr().toString());
                ports(out, addresses.ports());
            }
            case EgressRule.Named named ->
                    out.writeStringField("preset", named.preset().wireName());
        }
    }

    private static void host(JsonGenerator out, EgressRule.Host host) throws IOException {
        out.writeStringField("host", host.host().toString());
        if (!host.ports().equals(EgressRule.HOST_PORTS_DEFAULT)) {
            ports(out, host.ports());
        }
        if (host.mayBePrivate()) {
            out.writeBooleanField("private", true);
        }
        if (!host.http().isEmpty()) {
            out.writeArrayFieldStart("http");
            for (HttpMatch match : host.http()) {
                out.writeStartObject();
                if (!match.methods().isEmpty()) {
                    out.writeArrayFieldStart("methods");
                    for (String method : match.methods()) {
                        out.writeString(method);
                    }
                    out.writeEndArray();
                }
                out.writeStringField("path", match.path());
                out.writeEndObject();
            }
            out.writeEndArray();
        }
    }

    private static void ports(JsonGenerator out, List<Integer> ports) throws IOException {
        out.writeArrayFieldStart("ports");
        for (int port : ports) {
            out.writeNumber(port);
        }
        out.writeEndArray();
    }

    private static void limits(JsonGenerator out, EgressLimits limits) throws IOException {
        out.writeObjectFieldStart("limits");
        out.writeNumberField("connections", limits.connections());
        if (limits.bytes().isPresent()) {
            out.writeNumberField("bytes", limits.bytes().getAsLong());
        }
        if (limits.requestsPerSecond().isPresent()) {
            out.writeNumberField("requestsPerSecond", limits.requestsPerSecond().getAsInt());
        }
        out.writeEndObject();
    }
}
