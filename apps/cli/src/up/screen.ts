import { VERSION } from '../version.ts';
import { resolve } from 'node:path';
import { runnable } from '../runnable.ts';
import type { FoundWal } from '@carillon/adapter-embedded';
import { paint } from '../output.ts';

export type ScreenFacts = {
  /** Where log and stores are. */
  readonly place: string;
  readonly dataDir: string;
  readonly control: string;
  readonly gateway: string;
  /** One-time token of the welcome link. Null if someone has signed in before. */
  readonly welcome: string | null;
  /** The demo's key and folder, where this start made them. */
  readonly demo: { readonly key: string; readonly folder: string } | null;
  readonly recovered: { readonly resumed: number; readonly inDoubt: number; readonly foundWal: FoundWal | null };
};

const DEMO_EVENT =
  '{"order_id":"A-1001","status":"paid","total":120,"customer":{"name":"Ada","email":"ada@example.com"}}';

/** Everything that a start prints (interfaces section 4); logs follow from level warning on. */
export function startScreen(facts: ScreenFacts): string {
  return runnable(linesOf(facts), isUsual(facts.dataDir) ? {} : { dataDir: facts.dataDir });
}

/** Where every command looks by itself. */
const isUsual = (dataDir: string): boolean => resolve(dataDir) === resolve('./carillon-data');

function linesOf(facts: ScreenFacts): string {
  const { control, gateway, demo } = facts;
  const signIn = facts.welcome === null ? '' : `        sign in once: ${control}/welcome#${facts.welcome}`;
  const lines = ['', `  ${paint('bold', `Carillon ${VERSION}`)}   ${facts.place}`, ''];
  lines.push(`  Portal     ${control}${signIn}`);
  lines.push(`  Events     ${gateway}/events${demo ? '/shop/orders' : ''}`);
  if (demo) {
    lines.push(`  API key    ${demo.key}   ${paint('dim', 'shown this once')}`);
    lines.push(
      `  Rules      ${demo.folder}              edit, then: npx carillon apply -f ${demo.folder.replace('./', '')}`,
    );
    lines.push(`  Tests      npx carillon test ${demo.folder.replace('./', '')}`);
    lines.push('', '  Send one:');
    lines.push(`  curl -X POST ${gateway}/events/shop/orders -H 'Authorization: Bearer ${demo.key}' \\`);
    lines.push(`    -H 'Content-Type: application/json' -d '${DEMO_EVENT}'`);
    lines.push('', `  Then look:  ${control}/inbox     or  npx carillon trace <the id it answered>`);
  }
  const recovered = recoveredWords(facts.recovered);
  if (recovered !== '') lines.push('', `  ${recovered}`);
  if (facts.recovered.foundWal) lines.push('', `  ${foundWalWords(facts.recovered.foundWal)}`);
  return `${lines.join('\n')}\n`;
}

const MIB = 1024 * 1024;
const foundWalWords = ({ bytes, tookMs }: FoundWal): string =>
  `The process before did not stop in order: its write-ahead log, ${Math.ceil(bytes / MIB)} MiB, was read in ${(tookMs / 1000).toFixed(1)} s`;

function recoveredWords({ resumed, inDoubt }: ScreenFacts['recovered']): string {
  const parts: string[] = [];
  if (resumed > 0) parts.push(`${resumed} ${resumed === 1 ? 'delivery' : 'deliveries'} resumed`);
  if (inDoubt > 0) parts.push(`${inDoubt} in doubt: npx carillon deliveries --state IN_DOUBT`);
  return parts.join(', ');
}
