package dev.space.model.credential;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import dev.space.model.egress.HttpMatch;
import java.io.IOException;
import java.io.StringWriter;
import java.util.List;

/** Record to JSON: fixed order of fields, nothing that is at its default. */
final class GrantsWriter {

    private static final JsonFactory FACTORY = new JsonFactory();

    /** Writes one part. */
    @FunctionalInterface
    private interface Part {
        void to(JsonGenerator out) throws IOException;
    }

    private GrantsWriter() {}

    static String write(CredentialGrants grants) {
        return text(out -> {
            out.writeStartArray();
            for (CredentialGrant grant : grants.all()) {
                grant(out, grant);
            }
            out.writeEndArray();
        });
    }

    static String use(CredentialUse use) {
        return text(out -> {
            out.writeStartObject();
            use(out, use);
            out.writeEndObject();
        });
    }

    private static String text(Part part) {
        StringWriter text = new StringWriter();
        try (JsonGenerator out = FACTORY.createGenerator(text)) {
            part.to(out);
        } catch (IOException e) {
            throw new IllegalStateException("text cannot fail to be written", e);
        }
        return text.toString();
    }

    private static void grant(JsonGenerator out, CredentialGrant grant) throws IOException {
        out.writeStartObject();
        out.writeStringField("credentialId", grant.id());
        out.writeStringField("scope", grant.scope());
        out.writeNumberField("version", grant.version());
        out.writeStringField("name", grant.name());
        use(out, grant.use());
        if (grant.expires().isPresent()) {
            out.writeNumberField("expires", grant.expires().getAsLong());
        }
        switch (grant.material()) {
            case Material.Sealed(String base64) -> out.writeStringField("sealed", base64);
            case Material.Vault(String path, long version) -> {
                out.writeObjectFieldStart("vault");
                out.writeStringField("path", path);
                out.writeNumberField("version", version);
                out.writeEndObject();
            }
        }
        out.writeEndObject();
    }

    private static void use(JsonGenerator out, CredentialUse use) throws IOException {
        out.writeFieldName("hosts");
        hosts(out, use.hosts());
        if (!use.match().methods().isEmpty()) {
            out.writeArrayFieldStart("methods");
            for (String method : use.match().methods()) {
                out.writeString(method);
            }
            out.writeEndArray();
        }
        if (!use.match().path().equals(HttpMatch.ANY_PATH)) {
            out.writeStringField("path", use.match().path());
        }
        out.writeFieldName("injection");
        injection(out, use.injection());
        if (use.limit().isPresent()) {
            out.writeObjectFieldStart("limit");
            out.writeNumberField("requests", use.limit().get().requests());
            out.writeStringField("per", use.limit().get().per().wire());
            out.writeEndObject();
        }
    }

    private static void optional(JsonGenerator out, String field, String value) throws IOException {
        if (!value.isEmpty()) {
            out.writeStringField(field, value);
        }
    }

    private static void hosts(JsonGenerator out, List<GrantedHost> hosts) throws IOException {
        out.writeStartArray();
        for (GrantedHost host : hosts) {
            out.writeStartObject();
            out.writeStringField("host", host.host().toString());
            if (!host.ports().equals(GrantedHost.PORTS_DEFAULT)) {
                out.writeArrayFieldStart("ports");
                for (int port : host.ports()) {
                    out.writeNumber(port);
                }
                out.writeEndArray();
            }
            out.writeEndObject();
        }
        out.writeEndArray();
    }

    private static void injection(JsonGenerator out, Injection injection) throws IOException {
        out.writeStartObject();
        out.writeStringField("kind", injection.kind());
        switch (injection) {
            case Injection.Header(String name, String prefix) -> {
                out.writeStringField("name", name);
                if (!prefix.isEmpty()) {
                    out.writeStringField("prefix", prefix);
                }
            }
            case Injection.Basic(String user) -> out.writeStringField("user", user);
            case Injection.Query(String name) -> out.writeStringField("name", name);
            case Injection.Placeholder(String text) -> out.writeStringField("text", text);
            case Injection.OAuth2 oauth -> {
                out.writeStringField("grant", oauth.grant().wire());
                out.writeStringField("tokenUrl", oauth.tokenUrl().toString());
                out.writeStringField("clientId", oauth.clientId());
                optional(out, "scope", oauth.scope());
                optional(out, "audience", oauth.audience());
                optional(out, "clientAuth", oauth.clientAuthInBody() ? "body" : "");
            }
            case Injection.Jwt jwt -> {
                out.writeStringField("algorithm", jwt.algorithm().name());
                out.writeStringField("issuer", jwt.issuer());
                optional(out, "subject", jwt.subject());
                optional(out, "audience", jwt.audience());
                optional(out, "scope", jwt.scope());
                optional(out, "keyId", jwt.keyId());
                optional(out, "tokenUrl", jwt.tokenUrl().map(TokenUrl::toString).orElse(""));
            }
            case Injection.Sigv4(String accessKeyId, String region, String service) -> {
                out.writeStringField("accessKeyId", accessKeyId);
                out.writeStringField("region", region);
                out.writeStringField("service", service);
            }
        }
        out.writeEndObject();
    }
}
