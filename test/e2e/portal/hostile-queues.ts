import { openEmbedded } from '@carillon/adapter-embedded';
import { systemClock } from '@carillon/adapter-system';
import type { DeadLetterRow } from '@carillon/ports';

/**
 * Writes into the data of a product that is stopped what lies aside of a workspace: for each text a receipt that nobody could place, as
 * a provider would report it, and a dead letter, each with an id of the text's place.
 */
export async function layAside(dataDir: string, workspace: string, texts: readonly string[]): Promise<void> {
  const data = await openEmbedded({ dataDir, clock: systemClock });
  try {
    await data.readModels.put({
      deadLetters: texts.flatMap((text, at) => [receipt(workspace, text, 2 * at), letter(workspace, text, 2 * at + 1)]),
    });
  } finally {
    await data.close();
  }
}

const letter = (workspace: string, text: string, at: number): DeadLetterRow => ({
  id: `ddl_${String(at).padStart(26, '0')}`,
  workspace,
  stage: 'evaluate',
  topic: 'carillon.events',
  partition: 0,
  offset: 1_000 + at,
  reason: `rule_error: ${text}`,
  at: Date.now() - at * 1_000,
  ownPartition: 0,
  ownOffset: 1_000_000 + at,
  redrivenAt: null,
  redrivenBy: null,
  dismissedAt: null,
  dismissedBy: null,
  receipt: null,
});

const receipt = (workspace: string, text: string, at: number): DeadLetterRow => ({
  ...letter(workspace, text, at),
  stage: 'receipts',
  topic: 'carillon.receipts',
  reason: `unknown_receipt: ${text}`,
  receipt: {
    source: 'ses',
    account: `${workspace}/refusing`,
    verdict: 'bounced',
    suppress: null,
    code: text,
    detail: text,
    deliveryId: null,
    attempt: null,
    wish: null,
    address: at % 4 === 0 ? text : null,
    receivedAt: Date.now(),
  },
});
