package dev.space.bench.gateway;

import java.util.List;

/**
 * What the client is to do; a line on its standard input, with tabs between the fields.
 *
 * @param host to connect to, a name or an address
 * @param protocol {@code h1} or {@code h2}
 * @param streams requests under way at once on each connection
 * @param path what is asked for ({@link OutsideServer})
 * @param authorization sent in the header of that name; {@code -} sends none
 * @param requestsMax when to end
 * @param millisMax when to end at the latest; what is under way then does not count
 */
public record Job(
        String host,
        int port,
        String protocol,
        int connections,
        int streams,
        String path,
        String authorization,
        int requestsMax,
        int millisMax) {

    /** Sends no header. */
    public static final String NONE = "-";

    private static final int FIELDS = 9;

    String line() {
        return String.join(
                "\t",
                host,
                "" + port,
                protocol,
                "" + connections,
                "" + streams,
                path,
                authorization,
                "" + requestsMax,
                "" + millisMax);
    }

    static Job of(String line) {
        List<String> fields = List.of(line.split("\t", -1));
        if (fields.size() != FIELDS) {
            throw new IllegalArgumentException("a job has " + FIELDS + " fields");
        }
        return new Job(
                fields.get(0),
                Integer.parseInt(fields.get(1)),
                fields.get(2),
                Integer.parseInt(fields.get(3)),
                Integer.parseInt(fields.get(4)),
                fields.get(5),
                fields.get(6),
                Integer.parseInt(fields.get(7)),
                Integer.parseInt(fields.get(8)));
    }
}
