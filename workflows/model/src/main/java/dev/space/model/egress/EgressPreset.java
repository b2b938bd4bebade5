package dev.space.model.egress;

import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.stream.Stream;

/** Hosts that common tools need, under one name. */
public enum EgressPreset {
    /** pip and its like. */
    PYTHON("pypi.org", "files.pythonhosted.org"),
    /** npm, pnpm, yarn. */
    NPM("registry.npmjs.org", "registry.yarnpkg.com"),
    /** apt with Debian's own mirrors; lists and packages are signed, so plain HTTP is in. */
    DEBIAN(List.of(80, 443), "deb.debian.org", "security.debian.org", "snapshot.debian.org"),
    /** Git over HTTPS from the large public hosts, with what they serve archives from. */
    GIT(
            "github.com",
            "codeload.github.com",
            "objects.githubusercontent.com",
            "raw.githubusercontent.com",
            "release-assets.githubusercontent.com",
            "gitlab.com",
            "bitbucket.org",
            "codeberg.org");

    @SuppressWarnings("ImmutableEnumChecker") // made by toList() of records
    private final List<EgressRule.Host> rules;

    EgressPreset(String... hosts) {
        this(List.of(443), hosts);
    }

    EgressPreset(List<Integer> ports, String... hosts) {
        rules =
                Stream.of(hosts)
                        .map(h -> new EgressRule.Host(HostPattern.of(h), ports, false, List.of()))
                        .toList();
    }

    /** The rules that the name stands for. */
    public List<EgressRule.Host> rules() {
        return rules;
    }

    /** The name in a policy. */
    public String wireName() {
        return name().toLowerCase(Locale.ROOT);
    }

    public static Optional<EgressPreset> named(String wireName) {
        return Arrays.stream(values()).filter(p -> p.wireName().equals(wireName)).findFirst();
    }
}
