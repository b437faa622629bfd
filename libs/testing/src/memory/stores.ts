import { createStores, type DocumentStores } from '@carillon/stores';
import { createMemoryDocuments } from './documents.ts';
import { createDirectWire, type Wire } from './wire.ts';

/** The stores that are written once, over documents in memory. */
export function createMemoryStores() {
  const documents = createMemoryDocuments();
  return {
    items: documents.items,
    connect: (wire: Wire = createDirectWire()): DocumentStores => createStores(documents.connect(wire)),
  };
}
