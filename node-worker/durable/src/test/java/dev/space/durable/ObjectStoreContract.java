package dev.space.durable;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** What the code above asks of a store; the one in memory and a real server both keep to it. */
abstract class ObjectStoreContract {

    abstract ObjectStore store();

    @Test
    void whatIsWrittenIsReadInWholeAndInPart() {
        byte[] bytes = Trees.bytes(new Random(1), 300_000);
        store().put("lineages/a/b/1/x.pack", bytes, 200_000);
        assertThat(store().stat("lineages/a/b/1/x.pack").orElseThrow().length()).isEqualTo(200_000);
        byte[] part = new byte[1000];
        assertThat(store().read("lineages/a/b/1/x.pack", 5000, 1000, part)).isEqualTo(1000);
        assertThat(part).isEqualTo(Arrays.copyOfRange(bytes, 5000, 6000));
        assertThat(store().read("lineages/a/b/1/x.pack", 199_500, 1000, part)).isEqualTo(500);
        assertThat(store().read("lineages/a/b/1/x.pack", 200_000, 1000, part)).isZero();
    }

    @Test
    void whatIsNotThereIsNoFailure() {
        assertThat(store().stat("lineages/a/none")).isEmpty();
        assertThat(store().read("lineages/a/none", 0, 10, new byte[10])).isEqualTo(-1);
        store().delete("lineages/a/none");
    }

    @Test
    void writingOnceHasExactlyOneWinner() throws Exception {
        try (var pool = Executors.newFixedThreadPool(8)) {
            List<Callable<Boolean>> all = new ArrayList<>();
            for (int i = 0; i < 16; i++) {
                byte[] mine = {(byte) i};
                all.add(() -> store().putIfAbsent("lineages/race/b/1/manifest", mine));
            }
            int winners = 0;
            for (Future<Boolean> one : pool.invokeAll(all)) {
                winners += one.get() ? 1 : 0;
            }
            assertThat(winners).isEqualTo(1);
        }
        assertThat(store().putIfAbsent("lineages/race/b/1/manifest", new byte[] {99})).isFalse();
    }

    @Test
    void listsByPrefixAndForgetsWhatWasRemoved() {
        IntStream.range(0, 1100)
                .parallel()
                .forEach(i -> store().put("lineages/many/b/" + i + "/manifest", new byte[2], 2));
        store().put("lineages/other/b/1/manifest", new byte[] {1}, 1);
        store().delete("lineages/many/b/7/manifest");
        List<String> keys = new ArrayList<>();
        store().list(
                        "lineages/many/",
                        listed -> {
                            assertThat(listed.length()).isEqualTo(2);
                            keys.add(listed.key());
                        });
        assertThat(keys)
                .hasSize(1099)
                .doesNotHaveDuplicates()
                .doesNotContain("lineages/many/b/7/manifest")
                .allMatch(key -> key.startsWith("lineages/many/"));
    }
}
