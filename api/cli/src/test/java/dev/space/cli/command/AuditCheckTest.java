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
import java.util.function.UnaryOperator;
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

    private static AuditCheck text(int index, UnaryOperator<String> change) {
        AuditCheck check = new AuditCheck(null);
        List<JsonNode> lines = lines();
        for (int i = 0; i < lines.size(); i++) {
            String line = lines.get(i).toString();
            if (!check.takeText(i == index ? change.apply(line) : line)) {
                break;
            }
        }
        return check;
    }

    @Test
    void whatNoDigestCoversIsAChange() {
        assertThat(text(2, line -> line).fault()).isNull();
        List<UnaryOperator<String>> changes =
                List.of(
                        line -> line.replace("\"actor\":\"k\"", "\"actor\":\"e\",\"actor\":\"k\""),
                        line -> line.replace("{\"position\"", "{\"entry\":{},\"position\""),
                        line -> line.replace("{\"position\"", "{\"by\":\"me\",\"position\""),
                        line -> line.replace("\"actor\"", "\"by\":\"me\",\"actor\""),
                        line -> line + "{}",
                        line -> line.replace("\"position\":2", "\"position\":2.0"),
                        line -> line.replace("\"position\":2", "\"position\":\"2\""),
                        line -> line.replace("\"position\":2", "\"position\":18446744073709551618"),
                        line -> line.replace("\"epoch\":7", "\"epoch\":7.5"),
                        line -> line.replace("\"epoch\":7", "\"epoch\":18446744073709551623"),
                        line -> line.replace("\"epoch\":7", "\"epoch\":\"7\""),
                        line -> line.replace("\"outcome\":\"OK\"", "\"outcome\":null"),
                        line -> line.replace("456Z", "456000Z"),
                        line -> line.replace("456Z", "4561Z"),
                        line -> "",
                        line -> "[]",
                        line -> "not JSON",
                        line -> "\u0000");
        for (UnaryOperator<String> change : changes) {
            assertThat(change.apply(lines().get(2).toString()))
                    .isNotEqualTo(lines().get(2).toString());
            assertThat(text(2, change).fault()).isNotNull();
        }
        assertThat(text(0, line -> "{}").fault()).contains("whose");
    }

    @Test
    void saysHowManyRecordsWereSeenWhole() {
        assertThat(checked(lines(), null).seen())
                .contains("3 records of mine whole", "1 of other projects as digests");
    }
}
