package dev.space.durable;

/** The fake keeps to the contract. */
final class MemoryObjectStoreTest extends ObjectStoreContract {

    private final ObjectStore store = new MemoryObjectStore();

    @Override
    ObjectStore store() {
        return store;
    }
}
