import type { EventLog } from '@carillon/ports';
import { appendBeforeWrite, createSourceStore, createStores, type MovedStores } from '@carillon/stores';
import { createMemoryDocuments } from './documents.ts';
import { createDirectWire, type Wire } from './wire.ts';

/** The stores that are written once, over documents in memory. Records of sources are appended to `log`. */
export function createMemoryStores(log: (wire: Wire) => Pick<EventLog, 'append'> = () => ({ append: async () => [] })) {
  const memory = createMemoryDocuments();
  return {
    items: memory.items,
    connect(wire: Wire = createDirectWire()): MovedStores {
      const documents = memory.connect(wire);
      const sources = createSourceStore(documents, appendBeforeWrite(log(wire), documents));
      return { ...createStores(documents), sources };
    },
  };
}
