import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { cli } from '@carillon/testing';
import { shopFolder, WORKSPACE } from '../harness/shop.ts';
import { NO_PROVIDERS, PUBLIC_URL, type ProviderPlaces } from './providers.ts';

/** Calls that an account allows at once, so the most that one failure can leave in doubt. */
const CONNECTIONS = 5;

/** Where the analytics platform posts to. */
export const COHORT_PATH = `/cohorts/${WORKSPACE}/feed`;
/** How long nobody else asks about a trigger once it is being asked (three times `total`, and ten seconds). */
export const CALL_LEASE = 16_000;

const SECRETS = { CRM_KEY: 'the-key-of-the-partner', FEED_KEY: 'the-key-of-the-platform' };
/** What the product has to find in its environment: the secrets, and that the partner on loopback may be called. */
export const SHOP_ENVIRONMENT: Readonly<Record<string, string>> = {
  CARILLON_SECRET_SHOP__CRM_KEY: SECRETS.CRM_KEY,
  CARILLON_SECRET_SHOP__FEED_KEY: SECRETS.FEED_KEY,
  CARILLON_ALLOWED_PRIVATE_ADDRESSES: '127.0.0.1',
};

/** Whom the shop deals with; left out: nobody who carries SMS and push messages. */
export type Neighbours = {
  readonly smtpPort: number;
  readonly partnerUrl: string;
  readonly providers?: ProviderPlaces;
  /** What the shop wants of a message of which nobody knows whether it was taken; left out: it is held. */
  readonly inDoubt?: 'hold' | 'resend';
};
/** What opens its doors: the key of its stream, and that of the platform. */
export type ShopKeys = { readonly stream: string; readonly cohort: string };

/** The example shop with the accounts and the partner of this run. */
export const shopFiles = ({
  smtpPort,
  partnerUrl,
  providers = NO_PROVIDERS,
  inDoubt = 'hold',
}: Neighbours): Readonly<Record<string, string>> => ({
  'carillon.yaml': `public_url: ${PUBLIC_URL}
accounts:
  email: { kind: smtp, host: 127.0.0.1, port: ${smtpPort}, tls: none, connections: ${CONNECTIONS}, from: "Shop <shop@example.com>", return_path: bounces.example.com }
  sms:
${['main', 'spare'].map((name) => `    - { name: ${name}, kind: twilio, account_sid: ${providers.twilioAccount}, auth_token: { secret: TWILIO_TOKEN }, from: "+4915100000000", max_segments: 10, connections: ${CONNECTIONS}, url: "${providers.twilioUrl}" }\n`).join('')}  push: { kind: fcm, credentials: { secret: FCM_KEY_FILE }, requests: ${CONNECTIONS}, url: "${providers.fcmUrl}" }
`,
  ...shopFolder({ inDoubt, partnerUrl }),
});

/** Each takes 10 s: the product waits so long before it says that nobody knows whether it is done. */
const APPLY_REPEATS = 5;
const NOBODY_KNOWS = 'whether it will be is unknown';

async function succeed(args: readonly string[], dataDir: string, repeats = 0): Promise<string> {
  const { code, stdout, stderr } = await cli(args, { dataDir });
  if (code === 0) return stdout;
  if (repeats > 0 && stderr.includes(NOBODY_KNOWS)) return succeed(args, dataDir, repeats - 1);
  throw new Error(`carillon ${args.join(' ')} ended with ${code}: ${stdout}${stderr}`);
}

/**
 * Applies the shop's configuration, and what more is in it, to the running product, as an operator would, and answers the
 * keys to it.
 */
export async function openShop(
  folder: string,
  dataDir: string,
  neighbours: Neighbours,
  more: Readonly<Record<string, string>> = {},
): Promise<ShopKeys> {
  const configuration = join(folder, 'configuration');
  for (const [path, text] of Object.entries({ ...shopFiles(neighbours), ...more })) {
    const file = join(configuration, path);
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, text);
  }
  // Where many products start side by side it may take longer than the product waits; said again it changes nothing.
  await succeed(['apply', '-f', configuration], dataDir, APPLY_REPEATS);
  const made = await succeed(['api-key', 'create', 'backend', '--workspace', WORKSPACE, '--json'], dataDir);
  return { stream: (JSON.parse(made) as { key: string }).key, cohort: SECRETS.FEED_KEY };
}
