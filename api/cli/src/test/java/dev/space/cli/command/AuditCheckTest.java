package dev.space.cli.command;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.space.cli.platform.Json;
import dev.space.model.audit.AuditChain;
import dev.space.model.audit.AuditEntry;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** A chain as lines of JSON: what is good, and each way in which it is not. */
class AuditCheckTest {

    private static List<JsonNode> lines() {
        List<JsonNode> lines = new ArrayList<>();
        lines.add(Json.MAPPER.createObjectNode().put("organisation", "org").put("project", "mine"));
        String before = AuditChain.start("org");
        for (int i = 1; i <= 4; i++) {
            Instant at = Instant.parse("2030-01-31T12:00:00.123456Z").plusSeconds(i);
            String project = i == 3 ? "other" : "mine";
            Long epoch = i == 1 ? null : 7L;
            AuditEntry entry =
                    new AuditEntry(at, project, null, "k", "a", "o", "OK", "", epoch, "n");
            before = AuditChain.next(before, i, project, entry.digest());
            ObjectNode line = Json.MAPPER.createObjectNode().put("position", i);
            line.put("project", project).put("digest", entry.digest()).put("hash", before);
            if (project.equals("mine")) {
                ObjectNode shown = line.putObject("entry");
                shown.put("at", at.toString()).put("project", project).putNull("session");
                shown.put("actor", "k").put("action", "a").put("object", "o").put("outcome", "OK");
                shown.put("reason", "").put("epoch", epoch).put("node", "n");
            }
            lines.add(line);
        }
        return lines;
    }

    private static AuditCheck checked(List<JsonNode> lines, @Nullable String anchor) {
        AuditCheck check = new AuditCheck(anchor);
        for (JsonNode line : lines) {
            if (!check.take(line)) {
                break;
            }
        }
        return check;
    }

    @Test
    void aGoodChainHasALastLinkThatIsAnAnchorLater() {
        AuditCheck early = checked(lines().subList(0, 3), null);
        assertThat(early.fault()).isNull();
        assertThat(early.last()).startsWith("2:");
        assertThat(checked(lines(), early.last()).fault()).isNull();
        assertThat(checked(lines().subList(0, 2), early.last()).fault())
                .isEqualTo("it has no link " + early.last());
        assertThat(checked(List.of(), null).fault()).isEqualTo("there is none");
    }

    @Test
    void eachChangeIsNamed() {
        List<JsonNode> changed = lines();
        ((ObjectNode) changed.get(2).path("entry")).put("object", "forged");
        assertThat(checked(changed, null).fault()).isEqualTo("the record at 2 was changed");
        List<JsonNode> malformed = lines();
        ((ObjectNode) malformed.get(2).path("entry")).put("at", "yesterday");
        assertThat(checked(malformed, null).fault()).isEqualTo("the record at 2 was changed");
        List<JsonNode> gone = lines();
        ((ObjectNode) gone.get(2)).remove("entry");
        assertThat(checked(gone, null).fault()).isEqualTo("the record at 2 is gone");
        List<JsonNode> removed = lines();
        removed.remove(2);
        assertThat(checked(removed, null).fault()).isEqualTo("after 1 comes 3");
        List<JsonNode> broken = lines();
        ((ObjectNode) broken.get(3)).put("hash", "00");
        assertThat(checked(broken, null).fault()).isEqualTo("the chain is broken at 3");
    }
}
