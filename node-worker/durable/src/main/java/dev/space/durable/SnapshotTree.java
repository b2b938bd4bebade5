package dev.space.durable;

import java.io.IOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.regex.Pattern;

/** The files and directories of a snapshot on the disk; links and special files are refused. */
final class SnapshotTree {

    private static final Pattern PATH =
            Pattern.compile("[A-Za-z0-9_][A-Za-z0-9._-]*(/[A-Za-z0-9_][A-Za-z0-9._-]*)*");

    /** One name below the directory. */
    record Node(String path, boolean directory, long size) {}

    private SnapshotTree() {}

    /** True for relative paths that lead down only. */
    static boolean isPath(String text) {
        return text.length() <= Format.PATH_CHARS_MAX && PATH.matcher(text).matches();
    }

    /** In an order in which each directory stands before what is in it. */
    static List<Node> of(Path root) throws IOException {
        List<Node> nodes = new ArrayList<>();
        Files.walkFileTree(
                root,
                new SimpleFileVisitor<>() {
                    @Override
                    public FileVisitResult preVisitDirectory(Path dir, BasicFileAttributes at)
                            throws IOException {
                        if (!dir.equals(root)) {
                            add(nodes, root, dir, at);
                        }
                        return FileVisitResult.CONTINUE;
                    }

                    @Override
                    public FileVisitResult visitFile(Path file, BasicFileAttributes at)
                            throws IOException {
                        add(nodes, root, file, at);
                        return FileVisitResult.CONTINUE;
                    }
                });
        nodes.sort(Comparator.comparing(Node::path));
        return List.copyOf(nodes);
    }

    private static void add(List<Node> nodes, Path root, Path file, BasicFileAttributes at)
            throws IOException {
        String path = root.relativize(file).toString();
        if (!isPath(path) || !(at.isDirectory() || at.isRegularFile())) {
            throw new IOException(file + " cannot be part of a snapshot");
        }
        if (nodes.size() >= Format.ENTRIES_MAX) {
            throw new IOException(root + " has more than " + Format.ENTRIES_MAX + " files");
        }
        if (at.isRegularFile() && at.size() > Format.FILE_BYTES_MAX) {
            throw new IOException(file + " is larger than " + Format.FILE_BYTES_MAX + " bytes");
        }
        nodes.add(new Node(path, at.isDirectory(), at.isRegularFile() ? at.size() : 0));
    }
}
