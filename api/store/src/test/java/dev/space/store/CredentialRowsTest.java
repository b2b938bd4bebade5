package dev.space.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.space.model.ErrorCode;
import dev.space.model.SessionId;
import dev.space.model.SpaceException;
import dev.space.model.credential.CredentialGrant;
import dev.space.model.credential.CredentialGrants;
import dev.space.model.credential.CredentialUse;
import dev.space.model.credential.Material;
import dev.space.store.CredentialRows.Asker;
import dev.space.store.CredentialRows.Credential;
import dev.space.store.CredentialRows.Scope;
import dev.space.store.CredentialRows.Setting;
import java.sql.SQLException;
import java.time.Instant;
import java.util.List;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Credentials and grants as rows: whose they are, who is told, and when they end. */
class CredentialRowsTest {
    private static final TestDatabase DATABASE = TestDatabase.shared();
    static final Asker ME = new Asker(DATABASE.organisation, DATABASE.project, "me");
    private static final Asker STRANGER = new Asker("org_other", "prj_other", "other");
    private static final CredentialRows CREDENTIALS = new CredentialRows(DATABASE.db);
    private final GrantRows grants = new GrantRows(DATABASE.db);
    private final NetworkRows networks = new NetworkRows(DATABASE.db);

    static Credential set(String name, String host) {
        return set(Scope.PROJECT, name, host, null);
    }

    private static Credential set(
            Scope scope, String name, String host, @Nullable Instant expires) {
        CredentialUse use =
                CredentialUse.parse(
                        "{\"hosts\":[{\"host\":\""
                                + host
                                + "\"}],\"injection\":{\"kind\":\"header\",\"name\":\"x\"}}");
        return CREDENTIALS.set(
                ME,
                new Setting(scope, name, use, "team", expires, null),
                TestDatabase.text("crd"),
                (owner, id, version) -> new Material.Sealed("AAA" + version));
    }

    private SessionId session() throws SQLException {
        SessionId id = TestDatabase.newSession();
        new RequestStore(DATABASE.db)
                .create(DATABASE.session(id), TestDatabase.newOperation(), "test", null);
        DATABASE.execute("UPDATE sessions SET node_id = 'node-a' WHERE id = '" + id + "'");
        return id;
    }

    private NetworkRows.Network told(SessionId session) {
        return networks.forNode(session, "node-a").orElseThrow();
    }

    private List<CredentialGrant> granted(SessionId session) {
        return CredentialGrants.parse(told(session).grants()).all();
    }

    @Test
    void eachSettingHasTheNextVersionAndTellsTheSessionsThatHaveIt() throws SQLException {
        Credential first = set("versions", "a.example");
        assertThat(first.version()).isEqualTo(1);
        SessionId session = session();
        SessionId another = session();
        assertThat(told(session).grants()).isEmpty();
        grants.grant(ME, session, "versions", null);
        long before = told(session).version();
        Credential second = set("versions", "b.example");
        assertThat(second.id()).isEqualTo(first.id());
        assertThat(second.version()).isEqualTo(2);
        assertThat(second.created()).isEqualTo(first.created());
        assertThat(second.sessions()).isEqualTo(1);
        assertThat(told(session).version()).isEqualTo(before + 1);
        assertThat(told(another).version()).isZero();
        CredentialGrant grant = granted(session).getFirst();
        assertThat(grant.version()).isEqualTo(2);
        assertThat(grant.scope()).isEqualTo(DATABASE.project);
        assertThat(grant.material()).isEqualTo(new Material.Sealed("AAA2"));
        assertThat(grant.isFor("b.example", 443)).isTrue();
        assertThat(told(session).toString()).doesNotContain("AAA2");
    }

    @Test
    void theNearestOfANameIsGrantedAndStaysGrantedWhenANearerOneComes() throws SQLException {
        Credential far = set(Scope.ORGANISATION, "near", "org.example", null);
        SessionId session = session();
        grants.grant(ME, session, "near", null);
        assertThat(granted(session).getFirst().scope()).isEqualTo(DATABASE.organisation);
        Credential near = set("near", "project.example");
        assertThat(CREDENTIALS.find(ME, "near", null).orElseThrow().id()).isEqualTo(near.id());
        assertThat(CREDENTIALS.find(ME, "near", Scope.ORGANISATION).orElseThrow().id())
                .isEqualTo(far.id());
        assertThat(granted(session)).singleElement().extracting("id").isEqualTo(far.id());
        grants.grant(ME, session, "near", null);
        assertThat(granted(session)).singleElement().extracting("id").isEqualTo(near.id());
        assertThat(CREDENTIALS.list(ME).stream().filter(c -> c.name().equals("near")))
                .extracting(Credential::id)
                .containsExactly(near.id(), far.id());
        CREDENTIALS.delete(ME, "near", null);
        assertThat(granted(session)).as("not the farther one instead").isEmpty();
        CREDENTIALS.delete(ME, "near", null);
        assertThat(CREDENTIALS.find(ME, "near", null)).isEmpty();
        assertThat(CREDENTIALS.delete(ME, "near", null)).isEmpty();
    }

    @Test
    void grantingAndRevokingTwiceIsOnceAndEachIsRecorded() throws SQLException {
        set("twice", "a.example");
        SessionId session = session();
        grants.grant(ME, session, "twice", null);
        grants.grant(ME, session, "twice", null);
        assertThat(told(session).version()).isEqualTo(1);
        assertThat(grants.revoke(ME, session, "twice")).isTrue();
        assertThat(grants.revoke(ME, session, "twice")).isFalse();
        assertThat(told(session)).isEqualTo(new NetworkRows.Network(2, null, ""));
        assertThat(
                        DATABASE.value(
                                "SELECT string_agg(action || ' ' || object, ',' ORDER BY id)"
                                        + " FROM events WHERE session_id = ?",
                                session))
                .endsWith("grant_credential twice,revoke_credential twice");
    }

    @Test
    void whatExpiredIsNotToldAndItsGatewayHearsOfIt() throws SQLException {
        set("short", "a.example");
        set("mortal", "b.example");
        SessionId session = session();
        Instant end = Instant.ofEpochSecond(4_000_000_000L);
        assertThat(grants.grant(ME, session, "short", end).expires()).isEqualTo(end);
        grants.grant(ME, session, "mortal", null);
        assertThat(granted(session))
                .filteredOn(g -> g.name().equals("short"))
                .singleElement()
                .satisfies(g -> assertThat(g.expires()).hasValue(end.getEpochSecond()));
        long before = told(session).version();
        DATABASE.execute(
                "UPDATE session_grants SET expires_at = now() - interval '1 second'"
                        + " WHERE expires_at IS NOT NULL AND session_id = '"
                        + session
                        + "'");
        assertThat(granted(session)).extracting(CredentialGrant::name).containsExactly("mortal");
        DATABASE.execute(
                "UPDATE credentials SET expires_at = now() - interval '1 second'"
                        + " WHERE name = 'mortal'");
        assertThat(granted(session)).isEmpty();
        assertThat(grants.expire(100)).isEqualTo(2);
        assertThat(grants.expire(100)).isZero();
        assertThat(told(session).version()).isEqualTo(before + 2);
        assertThatThrownBy(() -> grants.grant(ME, session, "mortal", end))
                .hasMessageContaining("set it anew");
        assertThat(grants.list(ME, session)).isEmpty();
        set("mortal", "b.example");
        assertThat(granted(session)).as("a new secret is alive again").hasSize(1);
    }

    @Test
    void whatIsAnothersIsNotThere() throws SQLException {
        set("mine", "a.example");
        SessionId session = session();
        assertThat(CREDENTIALS.find(STRANGER, "mine", null)).isEmpty();
        assertThat(CREDENTIALS.list(STRANGER)).isEmpty();
        assertThat(CREDENTIALS.delete(STRANGER, "mine", null)).isEmpty();
        refused(() -> grants.list(STRANGER, session), ErrorCode.NOT_FOUND);
        refused(() -> grants.grant(STRANGER, session, "mine", null), ErrorCode.NOT_FOUND);
        refused(() -> grants.revoke(STRANGER, session, "mine"), ErrorCode.NOT_FOUND);
        refused(() -> networks.placed("prj_other", session), ErrorCode.NOT_FOUND);
        refused(() -> grants.grant(ME, session, "none", null), ErrorCode.NOT_FOUND);
        Asker neighbour = new Asker(DATABASE.organisation, "prj_other", "n");
        assertThat(CREDENTIALS.find(neighbour, "mine", null)).isEmpty();
    }

    @Test
    void aSessionThatIsOverUsesNothing() throws SQLException {
        set("over", "a.example");
        SessionId session = session();
        grants.grant(ME, session, "over", null);
        DATABASE.execute(
                "UPDATE sessions SET state = 'DESTROYED', tombstone_at = now(),"
                        + " tombstone_operation = '"
                        + TestDatabase.newOperation()
                        + "' WHERE id = '"
                        + session
                        + "'");
        assertThat(
                        DATABASE.value(
                                "SELECT count(*) FROM session_grants WHERE session_id = ?",
                                session))
                .isEqualTo("0");
        refused(() -> grants.grant(ME, session, "over", null), ErrorCode.GONE);
    }

    @Test
    void aSessionHasBoundedGrants() throws SQLException {
        SessionId session = session();
        for (int i = 0; i < CredentialGrants.GRANTS_MAX; i++) {
            set("bound-" + i, "a.example");
            grants.grant(ME, session, "bound-" + i, null);
        }
        set("bound-more", "a.example");
        refused(() -> grants.grant(ME, session, "bound-more", null), ErrorCode.LIMIT_EXCEEDED);
        assertThat(granted(session)).hasSize(CredentialGrants.GRANTS_MAX);
    }

    private static void refused(ThrowingCallable call, ErrorCode code) {
        assertThatThrownBy(call)
                .isInstanceOfSatisfying(
                        SpaceException.class, e -> assertThat(e.code()).isEqualTo(code));
    }
}
