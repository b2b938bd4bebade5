package dev.space.contract.session;

import io.temporal.common.SearchAttributeKey;
import java.util.List;

/**
 * Search attributes of session workflows, all of type Keyword. The control plane registers them
 * with the namespace before its workers start: a workflow that sets an unknown one is stuck.
 */
public final class SessionAttributes {

    public static final SearchAttributeKey<String> ORGANISATION =
            SearchAttributeKey.forKeyword("SpaceOrganisation");
    public static final SearchAttributeKey<String> PROJECT =
            SearchAttributeKey.forKeyword("SpaceProject");
    public static final SearchAttributeKey<String> STATE =
            SearchAttributeKey.forKeyword("SpaceState");
    public static final SearchAttributeKey<String> NODE =
            SearchAttributeKey.forKeyword("SpaceNode");
    public static final SearchAttributeKey<String> TEMPLATE =
            SearchAttributeKey.forKeyword("SpaceTemplate");

    public static final List<SearchAttributeKey<String>> ALL =
            List.of(ORGANISATION, PROJECT, STATE, NODE, TEMPLATE);

    private SessionAttributes() {}
}
