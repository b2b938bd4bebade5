package dev.space.model.egress;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.space.model.ErrorCode;
import dev.space.model.SpaceException;
import java.util.List;
import java.util.OptionalInt;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class EgressPolicyTest {

    @Test
    void readsEveryKindOfRule() {
        EgressPolicy policy =
                EgressPolicy.parse(
                        """
                        {"allow":[{"host":"PyPI.org."},{"host":"*.pythonhosted.org","ports":[443]},
                         {"cidr":"203.0.113.0/24","ports":[5432,80,5432]},{"preset":"python"},
                         {"host":"api.example.com","ports":[80],
                          "http":[{"methods":["POST","GET"],"path":"/v1/*"}]},
                         {"host":"db.internal.example","private":true}],
                         "limits":{"connections":8,"bytes":null,"requestsPerSecond":5},
                         "dryRun":true}
                        """);
        assertThat(policy.toJson())
                .isEqualTo(
                        "{\"allow\":[{\"host\":\"pypi.org\"},"
                                + "{\"host\":\"*.pythonhosted.org\",\"ports\":[443]},"
                                + "{\"cidr\":\"203.0.113.0/24\",\"ports\":[80,5432]},"
                                + "{\"preset\":\"python\"},"
                                + "{\"host\":\"api.example.com\",\"ports\":[80],\"http\":"
                                + "[{\"methods\":[\"GET\",\"POST\"],\"path\":\"/v1/*\"}]},"
                                + "{\"host\":\"db.internal.example\",\"private\":true}],"
                                + "\"limits\":{\"connections\":8,\"requestsPerSecond\":5},"
                                + "\"dryRun\":true}");
        assertThat(EgressPolicy.parse(policy.toJson())).isEqualTo(policy);
        assertThat(policy.limits())
                .isEqualTo(new EgressLimits(8, OptionalLong.empty(), OptionalInt.of(5)));
    }

    @Test
    void nothingIsAllowedByDefault() {
        assertThat(EgressPolicy.parse("{}")).isEqualTo(EgressPolicy.DENY_ALL);
        assertThat(EgressPolicy.DENY_ALL.allow()).isEqualTo(List.of());
        assertThat(EgressPolicy.parse(EgressPolicy.DENY_ALL.toJson()))
                .isEqualTo(EgressPolicy.DENY_ALL);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "[] | network: must be an object",
                "{ | network: is not JSON",
                "{} {} | network: has something behind its end",
                "{'alow':[]} | network.alow: there is no such field; known are allow",
                "{'allow':{}} | network.allow: must be an array",
                "{'allow':[7]} | network.allow[0]: must be an object",
                "{'allow':[{}]} | network.allow[0]: has exactly one of host, cidr and preset",
                "{'allow':[{'host':'a.b','preset':'npm'}]} | network.allow[0]: has exactly one",
                "{'allow':[{'preset':'npm'},{'host':'a b'}]} | network.allow[1].host: \"a b\"",
                "{'allow':[{'host':'a.*.b'}]} | network.allow[0].host: \"a.*.b\": a star stands",
                "{'allow':[{'host':'*'}]} | network.allow[0].host: \"*\": a star stands",
                "{'allow':[{'host':'10.0.0.1'}]} | an address is no name",
                "{'allow':[{'host':'a.0x7f'}]} | an address is no name",
                "{'allow':[{'host':'a..b'}]} | network.allow[0].host",
                "{'allow':[{'host':7}]} | network.allow[0].host: must be a text",
                "{'allow':[{'host':'a.b','port':[1]}]} | network.allow[0].port: there is no such",
                "{'allow':[{'host':'a.b','ports':[]}]} | network.allow[0].ports: is empty",
                "{'allow':[{'host':'a.b','http':[]}]} | network.allow[0].http: is empty",
                "{'allow':[{'host':'a.b','http':[{'methods':[]}]}]} | http[0].methods: is empty",
                "{'allow':[{'host':'a.b','ports':[0]}]} | network.allow[0].ports[0]: must be a",
                "{'allow':[{'host':'a.b','ports':[65536]}]} | network.allow[0].ports[0]",
                "{'allow':[{'host':'a.b','ports':[80.0]}]} | network.allow[0].ports[0]",
                "{'allow':[{'host':'a.b','ports':['80']}]} | network.allow[0].ports[0]",
                "{'allow':[{'host':'a.b','private':1}]} | network.allow[0].private: must be true",
                "{'allow':[{'host':'a.b','ports':[80],'http':[{'path':'v1'}]}]} | http[0].path",
                "{'allow':[{'host':'a.b','ports':[80],'http':[{'path':'/a/../b'}]}]} | http[0].path",
                "{'allow':[{'host':'a.b','ports':[80],'http':[{'path':'/*/b'}]}]} | http[0].path",
                "{'allow':[{'host':'a.b','ports':[80],'http':[{'methods':['get']}]}]} | methods[0]",
                "{'allow':[{'cidr':'10.0.0.0/8'}]} | network.allow[0].ports: must be named",
                "{'allow':[{'cidr':'10.0.0.1/8','ports':[1]}]} | the range is 10.0.0.0/8",
                "{'allow':[{'cidr':'10.0.0.0/33','ports':[1]}]} | network.allow[0].cidr",
                "{'allow':[{'cidr':'010.0.0.0/8','ports':[1]}]} | network.allow[0].cidr",
                "{'allow':[{'cidr':'::/0','ports':[1]}]} | IPv6 does not leave a sandbox",
                "{'allow':[{'preset':'rust'}]} | there are python, npm, debian, git",
                "{'allow':[{'preset':'npm','ports':[1]}]} | network.allow[0].ports: there is no",
                "{'limits':{'connections':0}} | network.limits.connections: must be a whole number",
                "{'limits':{'bytes':1e3}} | network.limits.bytes: must be a whole number",
                "{'limits':{'bytes':99999999999999999999}} | network.limits.bytes",
                "{'dryRun':'yes'} | network.dryRun: must be true or false",
                "{'dryRun':true,'dryRun':false} | network: is not JSON",
            })
    void namesTheFieldThatIsWrong(String json, String complaint) {
        assertThatThrownBy(() -> EgressPolicy.parse(json.replace('\'', '"')))
                .isInstanceOfSatisfying(
                        SpaceException.class,
                        e -> {
                            assertThat(e.code()).isEqualTo(ErrorCode.INVALID_ARGUMENT);
                            assertThat(e.getMessage()).startsWith("network").contains(complaint);
                        });
    }

    @Test
    void boundsRulesWithTheirPresetsExpanded() {
        String preset = "{\"preset\":\"git\"},";
        String rules = preset.repeat(32);
        assertThat(EgressPolicy.parse(allow(rules)).allow()).hasSize(32);
        assertThatThrownBy(() -> EgressPolicy.parse(allow(rules + preset)))
                .hasMessageContaining("network.allow: has more than 256 rules");
        assertThatThrownBy(() -> EgressPolicy.parse(" ".repeat(64 << 10) + "{}"))
                .hasMessageContaining("is longer than");
        assertThatThrownBy(() -> EgressPolicy.parse("{\"allow\":" + "[".repeat(30)))
                .isInstanceOf(SpaceException.class);
    }

    private static String allow(String rules) {
        return "{\"allow\":[" + rules.substring(0, rules.length() - 1) + "]}";
    }

    @Test
    void everyPresetFitsAndIsFoundByItsName() {
        for (EgressPreset preset : EgressPreset.values()) {
            EgressPolicy policy =
                    EgressPolicy.parse("{\"allow\":[{\"preset\":\"" + preset.wireName() + "\"}]}");
            Evaluator evaluator = new Evaluator(policy);
            for (EgressRule.Host rule : preset.rules()) {
                assertThat(evaluator.connect(rule.host().name(), 443).proceeds()).isTrue();
                assertThat(evaluator.connect(rule.host().name(), 22).proceeds()).isFalse();
            }
        }
    }
}
