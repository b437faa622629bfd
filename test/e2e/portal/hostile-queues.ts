import { openEmbedded } from '@carillon/adapter-embedded';
import { systemClock } from '@carillon/adapter-system';
import { letterRow, receiptRow } from './aside-rows.ts';

/**
 * Writes into the data of a product that is stopped what lies aside of a workspace: for each text a receipt that nobody could place, as
 * a provider would report it, and a dead letter, each with an id of the text's place.
 */
export async function layAside(dataDir: string, workspace: string, texts: readonly string[]): Promise<void> {
  const data = await openEmbedded({ dataDir, clock: systemClock });
  try {
    await data.readModels.put({
      deadLetters: texts.flatMap((text, nth) => {
        const at = 2 * nth;
        const account = `${workspace}/refusing`;
        const report = { account, code: text, detail: text, address: at % 4 === 0 ? text : null };
        return [
          receiptRow({ workspace, at, reason: `unknown_receipt: ${text}` }, report),
          letterRow({ workspace, at: at + 1, reason: `rule_error: ${text}` }),
        ];
      }),
    });
  } finally {
    await data.close();
  }
}
