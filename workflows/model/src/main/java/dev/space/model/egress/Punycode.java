package dev.space.model.egress;

/** RFC 3492, encoding only: how a label with letters outside ASCII is written in ASCII. */
final class Punycode {

    private static final int BASE = 36;
    private static final int T_MIN = 1;
    private static final int T_MAX = 26;
    private static final int SKEW = 38;
    private static final int DAMP = 700;
    private static final int BIAS_FIRST = 72;
    private static final int CODE_FIRST = 0x80;

    private Punycode() {}

    /** The part after {@code xn--}. Labels are short, so no sum below can overflow a long. */
    static String encode(String label) {
        int[] input = label.codePoints().toArray();
        StringBuilder out = new StringBuilder();
        for (int c : input) {
            if (c < CODE_FIRST) {
                out.append((char) c);
            }
        }
        int basic = out.length();
        if (basic > 0) {
            out.append('-');
        }
        int handled = basic;
        int code = CODE_FIRST;
        int bias = BIAS_FIRST;
        long delta = 0;
        while (handled < input.length) {
            int next = smallestFrom(input, code);
            delta += (long) (next - code) * (handled + 1);
            code = next;
            for (int c : input) {
                if (c < code) {
                    delta++;
                } else if (c == code) {
                    append(out, delta, bias);
                    bias = adapt(delta, handled + 1, handled == basic);
                    delta = 0;
                    handled++;
                }
            }
            delta++;
            code++;
        }
        return out.toString();
    }

    private static int smallestFrom(int[] input, int code) {
        int smallest = Integer.MAX_VALUE;
        for (int c : input) {
            if (c >= code && c < smallest) {
                smallest = c;
            }
        }
        return smallest;
    }

    /** A number in digits whose weights depend on the bias. */
    private static void append(StringBuilder out, long delta, int bias) {
        long rest = delta;
        for (int k = BASE; ; k += BASE) {
            int threshold = Math.clamp(k - bias, T_MIN, T_MAX);
            if (rest < threshold) {
                out.append(digit((int) rest));
                return;
            }
            out.append(digit((int) (threshold + (rest - threshold) % (BASE - threshold))));
            rest = (rest - threshold) / (BASE - threshold);
        }
    }

    private static char digit(int value) {
        return (char) (value < 26 ? 'a' + value : '0' + value - 26);
    }

    private static int adapt(long delta, int points, boolean first) {
        long d = first ? delta / DAMP : delta / 2;
        d += d / points;
        int k = 0;
        while (d > ((BASE - T_MIN) * T_MAX) / 2) {
            d /= BASE - T_MIN;
            k += BASE;
        }
        return (int) (k + (BASE - T_MIN + 1) * d / (d + SKEW));
    }
}
