package dev.space.durable;

import com.github.luben.zstd.Zstd;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import javax.crypto.Cipher;
import javax.crypto.spec.GCMParameterSpec;

/**
 * The manifest object, byte by byte (docs/storage-format.md): a head in the clear that names owner
 * and packs, so that garbage is collected without keys; then the file list, compressed and
 * encrypted, with the head authenticated by the same seal.
 */
final class ManifestCodec {

    private static final byte[] MAGIC = "SPACEMAN".getBytes(StandardCharsets.US_ASCII);
    private static final int NONCE_BYTES = 12;
    private static final int TAG_BITS = 128;
    private static final int NAME_BYTES = 16;
    private static final int LEVEL = 3;
    private static final SecureRandom RANDOM = new SecureRandom();

    /** The clear part, with the length of it in the object. */
    record Head(Names.Owner owner, List<Manifest.Pack> packs, int length) {}

    private ManifestCodec() {}

    static byte[] encode(Manifest manifest, LineageKeys keys) {
        try {
            byte[] head = head(manifest);
            byte[] body = compressed(ManifestBody.write(manifest.entries()));
            byte[] nonce = new byte[NONCE_BYTES];
            RANDOM.nextBytes(nonce);
            Cipher cipher = Cipher.getInstance("AES/GCM/NoPadding");
            cipher.init(
                    Cipher.ENCRYPT_MODE, keys.manifests(), new GCMParameterSpec(TAG_BITS, nonce));
            cipher.updateAAD(head);
            byte[] sealed = cipher.doFinal(body);
            byte[] object = Arrays.copyOf(head, head.length + nonce.length + sealed.length);
            System.arraycopy(nonce, 0, object, head.length, nonce.length);
            System.arraycopy(sealed, 0, object, head.length + nonce.length, sealed.length);
            if (object.length > Format.MANIFEST_BYTES_MAX) {
                throw new IllegalStateException("a manifest of " + object.length + " bytes");
            }
            return object;
        } catch (IOException | GeneralSecurityException e) {
            throw new IllegalStateException("a manifest could not be encoded", e);
        }
    }

    private static byte[] head(Manifest manifest) throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        DataOutputStream out = new DataOutputStream(bytes);
        out.write(MAGIC);
        out.writeShort(Format.VERSION);
        out.writeUTF(manifest.owner().lineage().value());
        out.writeUTF(manifest.owner().session());
        out.writeLong(manifest.owner().snapshot());
        out.writeInt(manifest.packs().size());
        for (Manifest.Pack pack : manifest.packs()) {
            out.writeUTF(pack.session());
            out.writeLong(pack.snapshot());
            out.write(HexFormat.of().parseHex(pack.name()));
            out.writeInt(pack.length());
        }
        return bytes.toByteArray();
    }

    private static byte[] compressed(byte[] body) {
        byte[] packed = Zstd.compress(body, LEVEL);
        return java.nio.ByteBuffer.allocate(Integer.BYTES + packed.length)
                .putInt(body.length)
                .put(packed)
                .array();
    }

    /** Reads the clear part; says nothing of who wrote it: compare the object's digest first. */
    static Head head(byte[] object) {
        ByteArrayInputStream bytes = new ByteArrayInputStream(object);
        try (DataInputStream in = new DataInputStream(bytes)) {
            if (!Arrays.equals(in.readNBytes(MAGIC.length), MAGIC)) {
                throw new IOException("it does not begin as a manifest");
            }
            int version = in.readUnsignedShort();
            if (version != Format.VERSION) {
                throw new IOException("it has version " + version + ", this release reads 1");
            }
            LineageId lineage = new LineageId(in.readUTF());
            Names.Owner owner = new Names.Owner(lineage, session(in.readUTF()), in.readLong());
            int count = ManifestBody.bounded(in.readInt(), Format.PACKS_MAX, "packs");
            List<Manifest.Pack> packs = new ArrayList<>();
            for (int i = 0; i < count; i++) {
                packs.add(pack(in));
            }
            return new Head(owner, packs, object.length - bytes.available());
        } catch (IOException | IllegalArgumentException e) {
            throw Corruption.of("a manifest cannot be read: " + e.getMessage());
        }
    }

    private static Manifest.Pack pack(DataInputStream in) throws IOException {
        String session = session(in.readUTF());
        long snapshot = in.readLong();
        String name = HexFormat.of().formatHex(in.readNBytes(NAME_BYTES));
        int length = ManifestBody.bounded(in.readInt(), Format.PACK_BYTES_MAX, "pack bytes");
        return new Manifest.Pack(session, snapshot, name, length);
    }

    /** Of the form that object names have, so that a name made of it leads nowhere else. */
    private static String session(String text) throws IOException {
        if (!text.matches("[a-z0-9_]{1,64}")) {
            throw new IOException("it names an impossible session");
        }
        return text;
    }

    static Manifest decode(byte[] object, LineageKeys keys) {
        Head head = head(object);
        try {
            Cipher cipher = Cipher.getInstance("AES/GCM/NoPadding");
            if (object.length < head.length() + NONCE_BYTES) {
                throw new IOException("it ends too early");
            }
            cipher.init(
                    Cipher.DECRYPT_MODE,
                    keys.manifests(),
                    new GCMParameterSpec(TAG_BITS, object, head.length(), NONCE_BYTES));
            cipher.updateAAD(object, 0, head.length());
            int start = head.length() + NONCE_BYTES;
            byte[] body = cipher.doFinal(object, start, object.length - start);
            return new Manifest(
                    head.owner(),
                    head.packs(),
                    ManifestBody.read(decompressed(body), head.packs()));
        } catch (GeneralSecurityException e) {
            throw Corruption.of(
                    "the manifest of "
                            + head.owner()
                            + " was changed or belongs to another lineage (its seal does not"
                            + " match)");
        } catch (IOException e) {
            throw Corruption.of("the manifest of " + head.owner() + ": " + e.getMessage());
        }
    }

    private static byte[] decompressed(byte[] body) throws IOException {
        if (body.length < Integer.BYTES) {
            throw new IOException("it ends too early");
        }
        int length =
                ManifestBody.bounded(
                        java.nio.ByteBuffer.wrap(body).getInt(),
                        Format.MANIFEST_BODY_BYTES_MAX,
                        "body bytes");
        byte[] plain = new byte[length];
        long size =
                Zstd.decompressByteArray(
                        plain, 0, length, body, Integer.BYTES, body.length - Integer.BYTES);
        if (Zstd.isError(size) || size != length) {
            throw new IOException("it cannot be decompressed");
        }
        return plain;
    }
}
