package dev.space.bench.gateway;

import java.util.List;

/** What the gateway does with a connection, and what makes mitmproxy do the same. */
public enum Mode {
    /** The name in the ClientHello is checked, then bytes pass. */
    PASS_THROUGH("pass-through", "", false),

    /** Every request is read, judged and written anew. */
    INTERCEPTION("interception", ",\"http\":[{\"methods\":[\"GET\"],\"path\":\"/*\"}]", false),

    /** And a credential is put into its header. */
    INJECTION("injection", "", true);

    private final String wireName;
    private final String rule;
    private final boolean granted;

    Mode(String wireName, String rule, boolean granted) {
        this.wireName = wireName;
        this.rule = rule;
        this.granted = granted;
    }

    public String wireName() {
        return wireName;
    }

    /** Whether the sandbox itself has no credential, and needs one. */
    public boolean injects() {
        return granted;
    }

    String policy(String name) {
        return "{\"allow\":[{\"host\":\"%s\",\"private\":true,\"ports\":[443]%s}]}"
                .formatted(name, rule);
    }

    /** The secret is in a file, not among what a process list shows. */
    List<String> mitmproxy(String secretFile) {
        return switch (this) {
            case PASS_THROUGH -> List.of("--set", "ignore_hosts=.*");
            case INTERCEPTION -> List.of();
            case INJECTION -> List.of("--modify-headers", "/~q/Authorization/@" + secretFile);
        };
    }
}
