package dev.space.model;

import java.util.Arrays;
import java.util.Locale;
import java.util.Optional;

/** The closed set of sandbox sizes. Each has its own start snapshot in every template. */
public enum Size {
    XS(1, 256, 2048),
    SMALL(1, 512, 4096),
    MEDIUM(2, 1024, 8192),
    LARGE(4, 4096, 16384);

    private final int vcpus;
    private final int memoryMiB;
    private final int diskMiB;

    Size(int vcpus, int memoryMiB, int diskMiB) {
        this.vcpus = vcpus;
        this.memoryMiB = memoryMiB;
        this.diskMiB = diskMiB;
    }

    /** The name in the API, in rows and in directory names. */
    public String wireName() {
        return name().toLowerCase(Locale.ROOT);
    }

    public int vcpus() {
        return vcpus;
    }

    public int memoryMiB() {
        return memoryMiB;
    }

    public int diskMiB() {
        return diskMiB;
    }

    public static Optional<Size> fromWireName(String name) {
        return Arrays.stream(values()).filter(s -> s.wireName().equals(name)).findFirst();
    }
}
