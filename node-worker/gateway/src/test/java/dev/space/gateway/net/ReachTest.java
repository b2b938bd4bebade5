package dev.space.gateway.net;

import static org.assertj.core.api.Assertions.assertThat;

import dev.space.model.egress.Cidr;
import dev.space.model.egress.Ipv4;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class ReachTest {

    private static final int PLATFORM = 8443;
    private static final int OWN = Ipv4.parse("203.0.113.5");
    private static final Reach REACH =
            new Reach(
                    List.of(Cidr.parse("198.51.100.0/24")),
                    Set.of(PLATFORM),
                    address -> address == OWN);

    private static boolean allows(String address, int port, boolean mayBePrivate) {
        return REACH.allows(Ipv4.parse(address), port, mayBePrivate);
    }

    @ParameterizedTest
    @ValueSource(strings = {"1.1.1.1", "93.184.216.34", "11.0.0.1", "172.32.0.1", "192.0.1.1"})
    void theInternetIsReached(String address) {
        assertThat(allows(address, 443, false)).isTrue();
        assertThat(allows(address, PLATFORM, false)).as("the port elsewhere").isTrue();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "127.0.0.1",
                "127.255.255.254",
                "10.0.0.1",
                "172.16.0.1",
                "172.31.255.255",
                "192.168.1.1",
                "100.64.0.1",
                "192.0.0.8",
                "203.0.113.5"
            })
    void privateAndOwnAddressesMustBeMeant(String address) {
        assertThat(allows(address, 443, false)).isFalse();
        assertThat(allows(address, 443, true)).isTrue();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "169.254.169.254",
                "169.254.0.1",
                "0.0.0.0",
                "0.1.2.3",
                "198.18.0.1",
                "198.19.9.9",
                "224.0.0.1",
                "239.1.1.1",
                "240.0.0.1",
                "255.255.255.255",
                "100.100.100.200",
                "192.0.0.192",
                "168.63.129.16",
                "198.51.100.7"
            })
    void someAreNobodys(String address) {
        assertThat(allows(address, 80, false)).isFalse();
        assertThat(allows(address, 80, true)).isFalse();
    }

    @Test
    void thePlatformsPortsOfThisMachineAreNobodys() {
        assertThat(allows("127.0.0.1", PLATFORM, true)).isFalse();
        assertThat(allows("127.9.9.9", PLATFORM, true)).isFalse();
        assertThat(allows("203.0.113.5", PLATFORM, true)).isFalse();
        assertThat(allows("10.0.0.1", PLATFORM, true)).isTrue();
    }

    @Test
    void thisMachineKnowsItsOwnAddresses() {
        assertThat(new ThisMachine().test(Ipv4.parse("127.0.0.1"))).isTrue();
        assertThat(new ThisMachine().test(Ipv4.parse("192.0.2.77"))).isFalse();
    }
}
