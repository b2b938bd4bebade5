package dev.space.manager;

import java.io.IOException;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.GroupPrincipal;
import java.nio.file.attribute.PosixFileAttributeView;
import java.nio.file.attribute.UserPrincipal;
import java.nio.file.attribute.UserPrincipalLookupService;

/**
 * The one user that may ask, by name and by number: the peer's credentials arrive in Java as a
 * name, or as the number's text for a uid without an entry.
 */
record Worker(String name, int uid, int gid) {

    /** Finds the user's numbers by giving it a file; the JDK has no other way. */
    static Worker find(String nameOrNumber, Path scratchDirectory) throws IOException {
        UserPrincipalLookupService lookup =
                FileSystems.getDefault().getUserPrincipalLookupService();
        UserPrincipal user = lookup.lookupPrincipalByName(nameOrNumber);
        Path probe = Files.createTempFile(scratchDirectory, "owner", null);
        try {
            Files.setOwner(probe, user);
            int uid = (int) Files.getAttribute(probe, "unix:uid");
            if (uid == 0) {
                throw new IllegalArgumentException("the user that may ask must not be root");
            }
            return new Worker(Files.getOwner(probe).getName(), uid, group(lookup, probe, uid));
        } finally {
            Files.deleteIfExists(probe);
        }
    }

    /** The group of the user's name where there is one, else the number of the uid. */
    private static int group(UserPrincipalLookupService lookup, Path probe, int uid)
            throws IOException {
        String name = Files.getOwner(probe).getName();
        GroupPrincipal group;
        try {
            group = lookup.lookupPrincipalByGroupName(name);
        } catch (java.nio.file.attribute.UserPrincipalNotFoundException e) {
            return uid;
        }
        Files.getFileAttributeView(probe, PosixFileAttributeView.class).setGroup(group);
        return (int) Files.getAttribute(probe, "unix:gid");
    }

    /** True for exactly this user. */
    boolean is(UserPrincipal peer) {
        return peer.getName().equals(name) || peer.getName().equals(String.valueOf(uid));
    }
}
