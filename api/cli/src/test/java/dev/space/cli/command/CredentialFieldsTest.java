package dev.space.cli.command;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.ByteArrayInputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.ParameterException;

/** Options to a credential, and where its secret comes from. */
class CredentialFieldsTest {

    @Command
    private static final class Holder {
        @Mixin CredentialFields fields = new CredentialFields();
    }

    private final Holder holder = new Holder();
    private final CommandLine line = new CommandLine(holder);

    private String body(String... arguments) {
        line.parseArgs(arguments);
        return holder.fields.body(line).toString();
    }

    @Test
    void everyOptionIsAField() {
        assertThat(
                        body(
                                "--host=api.example.com",
                                "--host=*.x.example:8443",
                                "--bearer",
                                "--method=GET",
                                "--path=/v1/*",
                                "--scope=organisation",
                                "--owner=team",
                                "--expires=2030-01-31T12:00:00Z"))
                .isEqualTo(
                        "{\"hosts\":[{\"host\":\"api.example.com\"},"
                                + "{\"host\":\"*.x.example\",\"ports\":[8443]}],\"injection\":"
                                + "{\"kind\":\"header\",\"name\":\"authorization\","
                                + "\"prefix\":\"Bearer \"},\"methods\":[\"GET\"],"
                                + "\"path\":\"/v1/*\",\"scope\":\"organisation\","
                                + "\"owner\":\"team\",\"expires\":\"2030-01-31T12:00:00Z\"}");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "--header=X-Key --prefix=k: | {'kind':'header','name':'X-Key','prefix':'k:'}",
                "--header=X-Key | {'kind':'header','name':'X-Key'}",
                "--basic=me | {'kind':'basic','user':'me'}",
                "--query=key | {'kind':'query','name':'key'}",
                "--placeholder=PLACEHOLDER-1 | {'kind':'placeholder','text':'PLACEHOLDER-1'}",
                "--sigv4=AKIDEXAMPLE --region=eu-x-1 --service=s3 |"
                        + " {'kind':'sigv4','accessKeyId':'AKIDEXAMPLE','region':'eu-x-1',"
                        + "'service':'s3'}",
                "--oauth2=refresh_token --token-url=https://a.example/t --client-id=c"
                        + " --token-scope=s --client-auth=body | {'kind':'oauth2',"
                        + "'grant':'refresh_token','tokenUrl':'https://a.example/t',"
                        + "'clientId':'c','clientAuth':'body','scope':'s'}",
                "--jwt=ES256 --issuer=i --subject=s --audience=a --key-id=k | {'kind':'jwt',"
                        + "'algorithm':'ES256','audience':'a','issuer':'i','subject':'s',"
                        + "'keyId':'k'}",
            })
    void eachWayOfInjectionHasAnOption(String options, String injection) {
        assertThat(body(("--host=a.example " + options).split(" ")))
                .contains(injection.replace('\'', '"'));
    }

    @ParameterizedTest
    @CsvSource({"''", "--bearer --basic=me"})
    void exactlyOneWayIsNeeded(String options) {
        assertThatThrownBy(() -> body(("--host=a.example " + options).strip().split(" ")))
                .isInstanceOf(ParameterException.class)
                .hasMessageContaining("give one of --bearer");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "--bearer --prefix=x | --prefix goes with --header",
                "--bearer --service=s3 | --service goes with --sigv4",
                "--sigv4=AKIDEXAMPLE --issuer=i | --issuer goes with --jwt",
                "--jwt=RS256 --client-id=i | --client-id goes with --oauth2",
                "--basic=me --token-url=u | --token-url goes with --oauth2, --jwt",
                "--bearer --sigv4=AKIDEXAMPLE --region=r --service=s3 | give one of --bearer",
            })
    void whatBelongsTogetherIsGivenTogether(String options, String why) {
        assertThatThrownBy(() -> body(("--host=a.example " + options).split(" ")))
                .isInstanceOf(ParameterException.class)
                .hasMessageContaining(why);
    }

    @Test
    void aLimitIsANumberOfATime() {
        assertThat(body("--host=a.example", "--bearer", "--limit=60/minute"))
                .contains("\"limit\":{\"requests\":60,\"per\":\"minute\"}");
        for (String wrong : new String[] {"60", "x/minute", "/minute", ""}) {
            assertThatThrownBy(() -> body("--host=a.example", "--bearer", "--limit=" + wrong))
                    .isInstanceOf(ParameterException.class)
                    .hasMessageContaining("--limit is such as 60/minute");
        }
    }

    @ParameterizedTest
    @CsvSource({"secret,secret", "secret~,secret", "secret^~,secret", "secret~~,secret~"})
    void oneEndOfLineIsNotPartOfTheSecret(String file, String secret, @TempDir Path dir)
            throws Exception {
        String text = file.replace('~', '\n').replace('^', '\r');
        Path path = Files.writeString(dir.resolve("secret"), text);
        line.parseArgs("--host=a.example", "--bearer", "--value-file=" + path);
        assertThat(holder.fields.secret(line)).isEqualTo(secret.replace('~', '\n'));
        assertThat(CredentialFields.text(new ByteArrayInputStream(text.getBytes(UTF_8)), line))
                .isEqualTo(secret.replace('~', '\n'));
    }

    @Test
    void noOptionTakesASecret() {
        assertThat(line.getCommandSpec().options())
                .extracting(OptionSpec::longestName)
                .contains("--value-file")
                .doesNotContain("--value", "--secret", "--token", "--password");
        assertThatThrownBy(() -> line.parseArgs("--host=a.example", "--value=x"))
                .isInstanceOf(ParameterException.class);
        byte[] tooLong = new byte[(64 << 10) + 1];
        assertThatThrownBy(() -> CredentialFields.text(new ByteArrayInputStream(tooLong), line))
                .hasMessageContaining("too long");
    }
}
