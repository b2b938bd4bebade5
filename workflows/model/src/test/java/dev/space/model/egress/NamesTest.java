package dev.space.model.egress;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.net.IDN;
import java.util.Optional;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

final class NamesTest {

    private static final int ROUNDS = 5_000;

    @ParameterizedTest
    @CsvSource({
        "Example.COM, example.com",
        "example.com., example.com",
        "bücher.example, xn--bcher-kva.example",
        "BÜCHER.example, xn--bcher-kva.example",
        "例え.テスト, xn--r8jz45g.xn--zckzah",
        "_dmarc.example.com, _dmarc.example.com",
        "localhost, localhost",
        "a１.example, a1.example",
    })
    void hasOneForm(String text, String name) {
        assertThat(HostName.of(text)).isEqualTo(name);
        assertThat(HostName.of(name)).isEqualTo(name);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                ".",
                "a..b",
                ".a",
                "a b",
                "a/b",
                "a:80",
                "-a.b",
                "a-.b",
                "a\u0000.b",
                "1.2.3.4",
                "a.1",
                "0x7f.1",
                "a@b",
                "[::1]",
                "a%62",
                "☃.example",
                "a。b",
                "a\u200b.example",
                "127.1",
                "a.0x10"
            })
    void refusesWhatIsNoName(String text) {
        assertThatThrownBy(() -> HostName.of(text)).isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void boundsNames() {
        String label = "a".repeat(63);
        String longest = label + "." + label + "." + label + "." + "a".repeat(61);
        assertThat(HostName.of(longest)).hasSize(253);
        assertThatThrownBy(() -> HostName.of(longest + "a"))
                .isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> HostName.of(label + "a.b"))
                .isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> HostName.of("ü".repeat(60) + ".b"))
                .as("in ASCII it is longer than 63")
                .isInstanceOf(IllegalArgumentException.class);
    }

    /** The JDK's own encoder, for letters on which its older standard and ours agree. */
    @Test
    void encodesAsTheJdkDoes() {
        Random random = new Random(7);
        String letters = "abcxyz019äöüéèñçøłžабвгдλμ日本語한국";
        for (int round = 0; round < ROUNDS; round++) {
            StringBuilder label = new StringBuilder("x");
            for (int i = 0; i < random.nextInt(12); i++) {
                label.append(letters.charAt(random.nextInt(letters.length())));
            }
            String name = label + ".example";
            assertThat(HostName.of(name)).as(name).isEqualTo(IDN.toASCII(name));
        }
    }

    @Test
    void neverFailsOtherwise() {
        Random random = new Random(11);
        for (int round = 0; round < ROUNDS; round++) {
            StringBuilder text = new StringBuilder();
            for (int i = 0; i < random.nextInt(20); i++) {
                text.appendCodePoint(random.nextInt(random.nextBoolean() ? 128 : 0x3000));
            }
            try {
                assertThat(HostName.of(text.toString())).matches("[a-z0-9._-]{1,253}");
            } catch (IllegalArgumentException e) {
                assertThat(e.getMessage()).isNotBlank();
            }
        }
    }

    @Test
    void starsMatchBelowOnly() {
        HostPattern below = HostPattern.of("*.example.com");
        assertThat(below.matches("a.example.com")).isTrue();
        assertThat(below.matches("a.b.example.com")).isTrue();
        assertThat(below.matches("example.com")).isFalse();
        assertThat(below.matches("badexample.com")).isFalse();
        assertThat(below.matches(".example.com")).isFalse();
    }

    @ParameterizedTest
    @CsvSource({
        "/, /",
        "/v1/a?x=/../, /v1/a",
        "/%61/b, /a/b",
        "/a%C3%bc, /a%C3%BC",
        "/a/, /a/",
        "/a;v=1/b, /a;v=1/b",
    })
    void readsPaths(String target, String path) {
        assertThat(RequestPath.of(target)).contains(path);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "*",
                "a",
                "//a",
                "/a//b",
                "/./a",
                "/a/..",
                "/../a",
                "/a/%2e%2e/b",
                "/a%2fb",
                "/a%5cb",
                "/a\\b",
                "/a%00",
                "/a%zz",
                "/a%2",
                "/a%",
                "/a b",
                "/a%252e",
                "/a#b",
                "/..;/a",
                "/a/;x",
                "http://a/b",
                "/a\u00fc",
                "/a\t"
            })
    void refusesWhatServersReadDifferently(String target) {
        assertThat(RequestPath.of(target)).isEqualTo(Optional.empty());
    }

    @Test
    void readsAddressesAndRangesInOneFormOnly() {
        assertThat(Ipv4.text(Ipv4.parse("203.0.113.7"))).isEqualTo("203.0.113.7");
        assertThat(Cidr.parse("203.0.113.0/24").contains(Ipv4.parse("203.0.113.255"))).isTrue();
        assertThat(Cidr.parse("203.0.113.0/24").contains(Ipv4.parse("203.0.114.0"))).isFalse();
        assertThat(Cidr.parse("0.0.0.0/0").contains(Ipv4.parse("255.255.255.255"))).isTrue();
        assertThat(Cidr.parse("1.2.3.4/32").contains(Ipv4.parse("1.2.3.5"))).isFalse();
        for (String bad :
                new String[] {"1.2.3", "1.2.3.4.5", "1.2.3.256", "01.2.3.4", "1.2.3.", "a"}) {
            assertThatThrownBy(() -> Ipv4.parse(bad)).isInstanceOf(IllegalArgumentException.class);
        }
    }
}
