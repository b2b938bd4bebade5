package dev.space.node.templates;

/** What {@code template.json} says of a template: content digest, bundle, and its user. */
public record TemplateInfo(
        String name,
        String digest,
        String bundle,
        String user,
        int uid,
        int gid,
        String home,
        int minDiskMiB) {}
