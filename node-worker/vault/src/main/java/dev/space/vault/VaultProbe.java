package dev.space.vault;

import io.github.jopenlibs.vault.response.LogicalResponse;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;

/** Asks the vault what a role may do, and compares it with what its process needs. */
public final class VaultProbe {

    private static final String ASK = "sys/capabilities-self";
    private static final Pattern WORD = Pattern.compile("[a-z]+");
    private static final Set<String> NOTHING = Set.of("deny");

    /** The two processes that call the vault. */
    public enum Role {
        CONTROL,
        GATEWAY;

        /** Name of its file in {@code vault-policies/}. */
        public String policy() {
            return this == CONTROL ? "space-control" : "space-gateway";
        }

        private Map<String, Set<String>> needs() {
            return switch (this) {
                case CONTROL ->
                        Map.of(
                                "data", Set.of("create", "update"),
                                "metadata", Set.of("delete"),
                                "destroy", Set.of("update"));
                case GATEWAY ->
                        Map.of("data", Set.of("read"), "metadata", NOTHING, "destroy", NOTHING);
            };
        }
    }

    private VaultProbe() {}

    /**
     * What the role may do that its process must not, and the other way round; VaultFailure where
     * the vault gives no answer.
     *
     * @param prefix of all paths of the platform
     */
    public static List<String> complaints(VaultSettings settings, String prefix, Role role) {
        List<String> wrong = new ArrayList<>();
        try (VaultSession session = new VaultSession(settings, System::nanoTime)) {
            for (Map.Entry<String, Set<String>> need : role.needs().entrySet()) {
                String path =
                        settings.mount() + "/" + need.getKey() + "/" + prefix + "/space/doctor";
                Set<String> may = capabilities(session, path);
                if (!may.equals(need.getValue())) {
                    wrong.add(path + ": may " + may + ", should " + new TreeSet<>(need.getValue()));
                }
            }
            String other = settings.mount() + "/data/not-" + prefix + "/doctor";
            Set<String> elsewhere = capabilities(session, other);
            if (!elsewhere.equals(NOTHING)) {
                wrong.add(other + ": may " + elsewhere + ", should " + NOTHING);
            }
        }
        return wrong.stream().sorted().toList();
    }

    private static Set<String> capabilities(VaultSession session, String path) {
        LogicalResponse answer =
                session.plain(vault -> vault.logical().write(ASK, Map.of("paths", path)));
        String words = String.valueOf(answer.getData().get(path));
        return new TreeSet<>(WORD.matcher(words).results().map(MatchResult::group).toList());
    }
}
