package dev.space.manager;

/**
 * What a guest could put on its wire, sent through the slot's TAP: TCP, UDP and ICMP to the gateway
 * and beyond, and IPv6. Prints how many IP frames came back within a second.
 */
final class GuestFrames {

    static final String PERL =
            """
            use strict; use Fcntl;
            sysopen(my $tun, "/dev/net/tun", O_RDWR) or die "open: $!";
            my $req = pack("Z16 s x22", "tap0", 0x5002);  # TAP, NO_PI, VNET_HDR
            ioctl($tun, 0x400454ca, $req) or die "TUNSETIFF: $!";
            sub sum { my $s = 0; $s += $_ for unpack("n*", $_[0]);
              $s = ($s & 0xffff) + ($s >> 16) while $s >> 16; ~$s & 0xffff }
            sub ip { my ($proto, $dst, $body) = @_;
              my @d = split /\\./, $dst;
              my $h = pack("CCnnnCCnC4C4", 0x45, 0, 20 + length $body, 1, 0, 64, $proto, 0,
                10, 200, 0, 2, @d);
              substr($h, 10, 2) = pack("n", sum($h)); $h . $body }
            my $gw = pack("H12", "02fc00000001"); my $me = pack("H12", "02fc00000002");
            my $echo = pack("CCnnn", 8, 0, 0, 1, 1); substr($echo, 2, 2) = pack("n", sum($echo));
            my $syn = pack("nnNNCCnnn", 40000, 80, 1, 0, 0x50, 2, 1024, 0, 0);
            my $udp = pack("nnnn", 40000, 53, 12, 0) . "dns?";
            my @frames = (
              $gw . $me . pack("n", 0x0800) . ip(1, "10.200.0.1", $echo),
              $gw . $me . pack("n", 0x0800) . ip(6, "10.200.0.1", $syn),
              $gw . $me . pack("n", 0x0800) . ip(17, "10.200.0.1", $udp),
              $gw . $me . pack("n", 0x0800) . ip(1, "127.0.0.1", $echo),
              $gw . $me . pack("n", 0x0800) . ip(6, "93.184.216.34", $syn));
            my $sent = 0;
            for (@frames) { syswrite($tun, ("\\0" x 10) . $_) and $sent++; }
            my ($replies, $end) = (0, time + 2);
            while (time < $end) {
              my $r = ""; vec($r, fileno($tun), 1) = 1;
              next unless select($r, undef, undef, 0.2);
              sysread($tun, my $buf, 65536) or last;
              my $type = unpack("n", substr($buf, 22, 2));
              $replies++ if $type == 0x0800 || $type == 0x86dd;
            }
            print "sent $sent replies $replies\\n";
            """;

    private GuestFrames() {}
}
