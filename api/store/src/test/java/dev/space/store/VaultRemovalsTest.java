package dev.space.store;

import static org.assertj.core.api.Assertions.assertThat;

import dev.space.model.credential.CredentialUse;
import dev.space.model.credential.Material;
import dev.space.store.CredentialRows.Asker;
import dev.space.store.CredentialRows.Scope;
import dev.space.store.CredentialRows.Setting;
import dev.space.store.VaultRemovals.Removal;
import dev.space.store.VaultRemovals.Turn;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What leaves the rows is to leave the vault, and is not forgotten before it has. */
class VaultRemovalsTest {
    private static final TestDatabase DATABASE = TestDatabase.shared();
    private static final Asker ME = new Asker(DATABASE.organisation, DATABASE.project, "me");
    private final CredentialRows credentials = new CredentialRows(DATABASE.db);
    private final VaultRemovals removals = new VaultRemovals(DATABASE.db);

    @BeforeEach
    void none() throws SQLException {
        DATABASE.execute("DELETE FROM vault_removals");
    }

    private void set(String name, Material material) {
        CredentialUse use =
                CredentialUse.parse(
                        "{\"hosts\":[{\"host\":\"a.example\"}],"
                                + "\"injection\":{\"kind\":\"header\",\"name\":\"x\"}}");
        var _ =
                credentials.set(
                        ME,
                        new Setting(Scope.PROJECT, name, use, "", null, null),
                        TestDatabase.text("crd"),
                        (owner, id, version) -> material);
    }

    private List<Removal> takeAll() {
        List<Removal> taken = new ArrayList<>();
        while (removals.one(taken::add) == Turn.DONE) {
            assertThat(taken).hasSizeLessThan(100);
        }
        return taken;
    }

    @Test
    void allButTheLastTwoVersionsGoAndADeletedOneWhole() {
        set("rotated", new Material.Vault("credentials/p/rotated", 1));
        set("rotated", new Material.Vault("credentials/p/rotated", 2));
        assertThat(takeAll()).isEmpty();
        set("rotated", new Material.Vault("credentials/p/rotated", 3));
        assertThat(takeAll()).containsExactly(new Removal("credentials/p/rotated", 2));
        var _ = credentials.delete(ME, "rotated", null);
        assertThat(takeAll()).containsExactly(new Removal("credentials/p/rotated", 0));
        assertThat(removals.one(_ -> true)).isEqualTo(Turn.NOTHING_LEFT);
    }

    @Test
    void oneThatIsSealedFromNowOnLeavesTheVaultUnlessItComesBack() {
        set("moved", new Material.Vault("credentials/p/moved", 1));
        set("moved", new Material.Sealed("AAAA"));
        assertThat(removals.waiting()).isEqualTo(1);
        set("moved", new Material.Vault("credentials/p/moved", 2));
        assertThat(takeAll()).isEmpty();
        set("moved", new Material.Sealed("AAAA"));
        assertThat(takeAll()).containsExactly(new Removal("credentials/p/moved", 0));
        var _ = credentials.delete(ME, "moved", null);
        assertThat(takeAll()).isEmpty();
    }

    @Test
    void whatFailsWaitsForItsNextTryBehindTheOthers() throws SQLException {
        set("first", new Material.Vault("credentials/p/first", 1));
        set("second", new Material.Vault("credentials/p/second", 1));
        var _ = credentials.delete(ME, "first", null);
        var _ = credentials.delete(ME, "second", null);
        List<String> tried = new ArrayList<>();
        assertThat(
                        removals.one(r -> {
                            tried.add(r.path());
                            return false;
                        }))
                .isEqualTo(Turn.FAILED);
        assertThat(tried).containsExactly("credentials/p/first");
        assertThat(takeAll()).containsExactly(new Removal("credentials/p/second", 0));
        assertThat(removals.waiting()).isEqualTo(1);
        DATABASE.execute("UPDATE vault_removals SET tried_at = now() - interval '6 s'");
        assertThat(takeAll()).containsExactly(new Removal("credentials/p/first", 0));
    }
}
